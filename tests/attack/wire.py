# SPDX-License-Identifier: BSD-3-Clause

"""Raw sockets to a server, and a strict reader of its answers: it accepts what
RFC 9112 lets a server send and nothing else."""

import contextlib
import functools
import json
import re
import socket
import struct

STATUS_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-5][0-9][0-9]) [\t -~]*\Z")
FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*"
                   rb"([\t -~\x80-\xff]*)\Z")

# Status of HTTP that belongs to the status in the body of an error: the table
# of docs/server.md.
HTTP_STATUS = {
    "INVALID_ARGUMENT": {400, 405, 413, 426, 431},
    "FAILED_PRECONDITION": {400, 426},
    "OUT_OF_RANGE": {400}, "UNAUTHENTICATED": {401},
    "PERMISSION_DENIED": {403}, "NOT_FOUND": {404}, "ALREADY_EXISTS": {409},
    "ABORTED": {409}, "RESOURCE_EXHAUSTED": {429}, "CANCELLED": {499},
    "INTERNAL": {500}, "UNKNOWN": {500}, "DATA_LOSS": {500},
    "UNIMPLEMENTED": {405, 501}, "UNAVAILABLE": {503},
    "DEADLINE_EXCEEDED": {504},
}


class Violation(Exception):
    """Answer that breaks the protocol or the documentation."""


class Ended(Exception):
    """The server has ended the connection before a whole answer."""


class Answer:
    __slots__ = ("status", "fields", "body", "is_last")

    def __init__(self, status, fields, body, is_last):
        self.status = status
        self.fields = fields
        self.body = body
        self.is_last = is_last

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as x:
            raise Violation(f"{self.status} without JSON: "
                            f"{self.body[:200]!r}") from x

    def check_error(self):
        """Checks the body of an error."""
        if self.status < 400:
            return
        if self.fields.get(b"content-type") != b"application/json":
            raise Violation(f"{self.status} has the content type "
                            f"{self.fields.get(b'content-type')!r} and the "
                            f"body {self.body[:200]!r}")
        error = self.json()
        # Genkit's remoteAgent reads an error inside of the body.
        if not isinstance(error, dict) \
                or not isinstance(error.get("message"), str) \
                or not isinstance(error.get("status"), str):
            raise Violation(f"{self.status} has no status and message: "
                            f"{self.body[:200]!r}")
        if self.status not in HTTP_STATUS.get(error["status"], ()):
            raise Violation(f"{self.status} with {error['status']}")


@functools.lru_cache(1024)
def parse_head(head):
    """Returns the status and the fields of a head without its empty line; most
    heads are those of earlier answers."""
    lines = head.split(b"\r\n")
    match = STATUS_LINE.match(lines[0])
    if not match:
        raise Violation(f"status line {lines[0][:200]!r}")
    fields = {b":version": match[1]}
    for line in lines[1:]:
        field = FIELD.match(line)
        if not field:
            raise Violation(f"header field {line[:200]!r}")
        name = field[1].lower()
        if name in fields and name in (b"content-length", b"content-type",
                                       b"transfer-encoding"):
            raise Violation(f"two fields {name!r}")
        fields[name] = field[2].rstrip()
    return int(match[2]), fields


class Connection:
    """Connection of one client.

    A timeout of the socket is an error of the test, not of the network: each
    wait of a test ends by an event unless the server has hung.
    """

    def __init__(self, port, timeout=20, receive_buffer=0):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                   receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection by a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        self.socket.close()

    def half_close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def send(self, data):
        """Sends bytes; a server may end a connection meanwhile."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def send_some(self, data):
        """Sends what the server reads at once. Returns how many bytes."""
        return self.socket.send(data)

    def receive(self):
        """Returns what has come; nothing at the end of the connection."""
        try:
            return self.socket.recv(1 << 18)
        except ConnectionResetError:
            return b""
        except TimeoutError as x:
            raise Violation("the server neither answers nor ends the "
                            f"connection in {self.socket.gettimeout()} s; read "
                            f"{self.buffer[:200]!r}") from x

    def fill(self):
        """Reads more. Raises `Ended` at the end of the connection."""
        if not (part := self.receive()):
            raise Ended
        self.buffer += part

    def read_exactly(self, size):
        while len(self.buffer) < size:
            self.fill()
        result, self.buffer = self.buffer[:size], self.buffer[size:]
        return result

    def read_line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.fill()
        result, self.buffer = self.buffer[:end], self.buffer[end + 2:]
        return result

    def read_head(self):
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            if len(self.buffer) > 65_536:
                raise Violation(f"no end of a head: {self.buffer[:200]!r}")
            self.fill()
        head, self.buffer = self.buffer[:end], self.buffer[end + 4:]
        return parse_head(head)

    def read_answer(self, method="GET"):
        """Reads one answer. Raises `Ended` if there is none, and `Violation` if
        it is cut off or not well-formed."""
        if not self.buffer:
            self.fill()
        try:
            status, fields = self.read_head()
            while status == 100:
                status, fields = self.read_head()
            return self.read_rest(status, fields, method)
        except Ended as x:
            raise Violation("an answer is cut off: "
                            f"{self.buffer[:200]!r}") from x

    def read_rest(self, status, fields, method):
        is_last = fields.get(b"connection", b"").lower() == b"close" \
            or fields[b":version"] == b"1.0" \
            and fields.get(b"connection", b"").lower() != b"keep-alive"
        length = fields.get(b"content-length")
        coding = fields.get(b"transfer-encoding")
        if coding is not None and length is not None:
            raise Violation("an answer with two lengths")
        if method == "HEAD" or status in (101, 204, 304):
            if status == 204 and (coding or length is not None):
                raise Violation("204 with the length of a body")
            body = b""
        elif coding is not None:
            if coding.lower() != b"chunked":
                raise Violation(f"transfer coding {coding!r}")
            body = self.read_chunks()
        elif length is not None:
            if not re.fullmatch(rb"[0-9]{1,18}", length):
                raise Violation(f"length {length!r}")
            body = self.read_exactly(int(length))
        elif is_last:
            body = self.read_to_end()
        else:
            raise Violation(f"an answer {status} without a length")
        return Answer(status, fields, body, is_last)

    def read_chunks(self):
        parts = []
        while True:
            line = self.read_line()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", line):
                raise Violation(f"chunk size {line[:200]!r}")
            size = int(line, 16)
            parts.append(self.read_exactly(size))
            if self.read_exactly(2) != b"\r\n":
                raise Violation("a chunk without its end of line")
            if size == 0:
                return b"".join(parts)

    def read_to_end(self):
        while True:
            try:
                self.fill()
            except Ended:
                result, self.buffer = self.buffer, b""
                return result

    def is_ended(self):
        """Waits for the end of the connection. Returns whether nothing came
        before it."""
        return self.read_to_end() == b""


def request(method, target, body=None, fields=(), version="1.1"):
    """Returns the bytes of a good request."""
    head = [f"{method} {target} HTTP/{version}", "Host: localhost"]
    head += [f"{name}: {value}" for name, value in fields]
    if body is not None:
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def said(text):
    """Returns an input of a conversation."""
    return {"messages": [{"role": "user", "content": [{"text": text}]}]}
