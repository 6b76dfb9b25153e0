# SPDX-License-Identifier: BSD-3-Clause

"""WebSocket of a client that may break RFC 6455, and a strict reader of what
the server sends."""

import base64
import hashlib
import json
import os
import struct

from wire import Ended, Violation, request

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

TALK = "/talk/session-flow/chat"


def frame(opcode, payload=b"", fin=True, rsv=0, masked=True, length=None):
    """Returns the bytes of a frame.

    @param length in the head, if it is not that of the payload.
    """
    size = len(payload) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if size < 126:
        head += bytes([mask_bit | size])
    elif size < 1 << 16:
        head += struct.pack(">BH", mask_bit | 126, size)
    else:
        head += struct.pack(">BQ", mask_bit | 127, size)
    if not masked:
        return head + payload
    key = os.urandom(4)
    pad = key * (len(payload) // 4 + 1)
    masked_payload = (int.from_bytes(payload, "big")
                      ^ int.from_bytes(pad[:len(payload)], "big"))
    return head + key + masked_payload.to_bytes(len(payload), "big")


def close_frame(code, reason=b""):
    return frame(CLOSE, struct.pack(">H", code) + reason)


def message(text):
    """Returns the bytes of a message of one frame."""
    return frame(TEXT, text.encode() if isinstance(text, str) else text)


def fragments(payload, size, first=TEXT):
    """Returns the frames of a message that is cut into parts."""
    parts = [payload[i:i + size] for i in range(0, len(payload), size)] or [b""]
    return [frame(first if i == 0 else CONTINUATION, part,
                  fin=i == len(parts) - 1) for i, part in enumerate(parts)]


def upgrade(key=None, target=TALK, method="GET", version="1.1", **changes):
    """Returns the request of a handshake.

    @param changes values of fields by their names with underscores; None
                   leaves one out.
    """
    fields = {"Upgrade": "websocket", "Connection": "Upgrade",
              "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": key or base64.b64encode(b"0" * 16).decode()}
    for name, value in changes.items():
        fields[name.replace("_", "-")] = value
    return request(method, target, version=version,
                   fields=[x for x in fields.items() if x[1] is not None])


class WebSocket:
    """WebSocket over a connection, which it closes."""

    def __init__(self, connection, **changes):
        self.wire = connection
        self.close_code = None  # of the server; 1005 if it has sent none
        self.has_ended = False
        key = base64.b64encode(os.urandom(16)).decode()
        self.wire.send(upgrade(key, **changes))
        self.answer = self.wire.read_answer()
        if self.answer.status != 101:
            raise Violation(f"a handshake is answered with "
                            f"{self.answer.status}: {self.answer.body[:200]!r}")
        accept = base64.b64encode(hashlib.sha1(
            key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        if self.answer.fields.get(b"sec-websocket-accept") != accept:
            raise Violation("Sec-WebSocket-Accept is not that of the key")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def send(self, data, chop=0):
        """Sends bytes, in pieces of `chop` bytes."""
        if not chop:
            return self.wire.send(data)
        return all(self.wire.send(data[i:i + chop])
                   for i in range(0, len(data), chop))

    def read_frame(self):
        """Returns opcode, whether it is the last of its message, and payload.
        Raises `Ended` at the end of the connection."""
        first, second = self.wire.read_exactly(2)
        if first & 0x70:
            raise Violation("a frame of the server has RSV bits")
        if second & 0x80:
            raise Violation("a frame of the server is masked")
        size = second & 0x7f
        if size == 126:
            size = struct.unpack(">H", self.wire.read_exactly(2))[0]
            if size < 126:
                raise Violation("the length of a frame is not minimal")
        elif size == 127:
            size = struct.unpack(">Q", self.wire.read_exactly(8))[0]
            if size < 1 << 16:
                raise Violation("the length of a frame is not minimal")
        opcode, is_final = first & 15, bool(first & 0x80)
        if opcode not in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
            raise Violation(f"a frame of the server has the opcode {opcode}")
        if opcode >= CLOSE and (size > 125 or not is_final):
            raise Violation("a control frame of the server is too large")
        return opcode, is_final, self.wire.read_exactly(size)

    def read(self):
        """Returns opcode and payload of the next message or control frame.
        After the frame that closes, only the end of the connection may come:
        then it returns None."""
        text = []
        while True:
            try:
                opcode, is_final, payload = self.read_frame()
            except Ended:
                self.has_ended = True
                return None
            if self.close_code is not None:
                raise Violation("a frame follows the one that closes")
            if opcode == CLOSE:
                self.read_close(payload)
                return opcode, payload
            if opcode >= CLOSE:
                return opcode, payload
            if (opcode == CONTINUATION) != bool(text):
                raise Violation("the fragments of the server are mixed up")
            text.append(payload)
            if is_final:
                return TEXT, b"".join(text)

    def read_close(self, payload):
        if len(payload) == 1:
            raise Violation("a close frame of one byte")
        self.close_code = 1005
        if payload:
            self.close_code = struct.unpack(">H", payload[:2])[0]
            payload[2:].decode("utf-8")

    def read_json(self):
        """Returns the next message."""
        while (x := self.read()) is not None:
            if x[0] == TEXT:
                return json.loads(x[1])
        raise Violation(f"the WebSocket ends with {self.close_code}, not with "
                        "a message")

    def open(self, **options):
        self.send(message(json.dumps({"open": options})))
        result = self.read_json()
        if "opened" not in result:
            raise Violation(f"a run is not opened: {result}")
        return result["opened"]

    def read_to_end(self):
        """Returns the messages and control frames before the end, without the
        close frame."""
        result = []
        while (x := self.read()) is not None:
            if x[0] != CLOSE:
                result.append(x)
        return result
