# SPDX-License-Identifier: BSD-3-Clause

"""Records and handshake messages of TLS, right and wrong (RFC 8446, RFC 5246),
and a reader of the records that a server sends."""

import struct

from wire import Ended, Violation

CHANGE_CIPHER, ALERT, HANDSHAKE, DATA, HEARTBEAT = 20, 21, 22, 23, 24
CLIENT_HELLO, SERVER_HELLO = 1, 2
WARNING, FATAL = 1, 2

SSL_3, TLS_10, TLS_11, TLS_12, TLS_13 = 0x300, 0x301, 0x302, 0x303, 0x304

# Of TLS 1.3 and 1.2, for a key on a curve.
GOOD_CIPHERS = (0x1301, 0xc02b)


def record(kind, payload, version=TLS_12, length=None):
    """Returns a record.

    @param length in the head, if it is not that of the payload.
    """
    size = len(payload) if length is None else length
    return struct.pack(">BHH", kind, version, size) + payload


def records(kind, payload, size=1 << 14):
    """Returns a payload in records of a size."""
    return b"".join(record(kind, payload[i:i + size])
                    for i in range(0, len(payload), size))


def message(kind, body, length=None):
    """Returns a message of a handshake."""
    size = len(body) if length is None else length
    return bytes([kind]) + size.to_bytes(3, "big") + body


def sized(data, width=2):
    """Returns bytes behind their length."""
    return len(data).to_bytes(width, "big") + data


def extension(number, body=b"", length=None):
    size = len(body) if length is None else length
    return struct.pack(">HH", number, size) + body


def numbers(values):
    return b"".join(struct.pack(">H", x) for x in values)


def server_name(name):
    return extension(0, sized(b"\0" + sized(name)))


def protocols(*names):
    """Returns an offer of application protocols."""
    return extension(16, sized(b"".join(sized(x, 1) for x in names)))


def versions(*values):
    return extension(43, sized(numbers(values), 1))


def share(group, key):
    """Returns the key of a client."""
    return extension(51, sized(numbers([group]) + sized(key)))


GROUPS = extension(10, sized(numbers([29, 23])))
SIGNATURES = extension(13, sized(numbers([0x0403, 0x0804])))
KEY_SHARE = share(29, b"\x09" * 32)
USUAL = GROUPS + SIGNATURES


def hello_body(version=TLS_12, ciphers=GOOD_CIPHERS, extensions=USUAL,
               compression=b"\0", session=b""):
    """Returns the body of a ClientHello.

    @param extensions None leaves out their length as well.
    """
    result = (struct.pack(">H", version) + b"attacked" * 4 + sized(session, 1)
              + sized(numbers(ciphers)) + sized(compression, 1))
    return result if extensions is None else result + sized(extensions)


def hello(**options):
    """Returns the records of a ClientHello."""
    return records(HANDSHAKE, message(CLIENT_HELLO, hello_body(**options)))


def hello_13(*more, **options):
    """Returns the records of a ClientHello of TLS 1.3."""
    return hello(extensions=USUAL + versions(TLS_13) + KEY_SHARE
                 + b"".join(more), session=b"s" * 32, **options)


# -- reader --------------------------------------------------------------------

def split(data):
    """Yields kind and payload of whole records."""
    while len(data) >= 5:
        # An alert may repeat the version of the client, whatever it is.
        kind, version, size = struct.unpack(">BHH", data[:5])
        if kind not in (CHANGE_CIPHER, ALERT, HANDSHAKE, DATA) \
                or kind != ALERT and version != TLS_12:
            raise Violation(f"the server sends no TLS: {data[:200]!r}")
        if len(data) < 5 + size:
            return
        yield kind, data[5:5 + size]
        data = data[5 + size:]


def read_to_end(at):
    """Returns the records before the end of a plain connection."""
    while True:
        try:
            at.fill()
        except Ended:
            return list(split(at.buffer))


def check_alerts(found):
    """Alerts that are not encrypted must be fatal, and the last record."""
    for i, (kind, payload) in enumerate(found):
        if kind == ALERT and len(payload) == 2:
            if payload[0] != FATAL or i != len(found) - 1:
                raise Violation(f"alert {tuple(payload)}, which is record {i} "
                                f"of {len(found)}")


def has_server_hello(found):
    return any(kind == HANDSHAKE and payload[:1] == bytes([SERVER_HELLO])
               for kind, payload in found)
