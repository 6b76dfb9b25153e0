# SPDX-License-Identifier: BSD-3-Clause

"""Table of violations and edge cases of the WebSocket protocol, by the numbers
of Autobahn's test suite for servers.

That suite expects an echo. Here a message that must be accepted is either one
that opens a run, filled up with blanks, and is answered with `opened`; or one
that is not JSON, and closes with 1008. Both show that the frames were read.
Chapters 12 and 13, of compression, do not apply: the server offers none, which
`handshakes` checks. The suite itself is not used, for the echo it expects and
because it is Python 2: autobahntestsuite 25.10.1, its last release on PyPI,
installs with Python 3.11, but its import fails (`from _version import ...`).
"""

import dataclasses

from utf8_cases import UTF8_CASES
from web_socket import (BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT,
                        close_frame, fragments, frame, message)

OPEN = b'{"open":{"keep":false}}'
GREETING = "Hello-\u00b5@\u00df\u00f6\u00e4\u00fc\u00e0\u00e1-UTF-8!!".encode()
KOSME = "\u03ba\u1f79\u03c3\u03bc\u03b5".encode()


@dataclasses.dataclass
class Case:
    number: str
    data: bytes
    # What is expected: payloads of pongs, whether a run is opened, and the
    # codes of which the server closes with one. Without codes the client
    # closes with 1000, which the server has to repeat.
    pongs: tuple = ()
    opened: bool = False
    codes: tuple = ()
    chop: int = 0  # size of the pieces in which the bytes are sent
    # Whether answers may be missing: what follows them ends the connection.
    may_lack: bool = False


def sized(size):
    """Returns a message that opens a run, of a given size."""
    return OPEN + b" " * (size - len(OPEN))


def failing(number, data, opened=False, chop=0):
    """The connection fails with a protocol error; RFC 6455 lets an endpoint
    drop what it was about to send before."""
    return Case(number, data, (), opened, (1002,), chop, may_lack=True)


def opening(number, data, chop=0, pongs=()):
    return Case(number, data, tuple(pongs), True, (), chop)


def refused(number, data, code, chop=0):
    return Case(number, data, (), False, (code,), chop)


def messages():
    """Chapter 1: sizes of text and binary messages."""
    sizes = [0, 125, 126, 127, 128, 65_535, 65_536, 65_536]
    for i, size in enumerate(sizes, 1):
        chop = 997 if i == 8 else 0
        yield (opening(f"1.1.{i}", message(sized(size)), chop) if size
               else refused("1.1.1", message(b""), 1008))
        yield refused(f"1.2.{i}", frame(BINARY, b"\xfe" * size), 1003, chop)


def pings():
    """Chapter 2."""
    for i, payload in enumerate((b"", b"Hello, world!",
                                 b"\0\xff\xfe\xfd\xfc\xfb\0\xff",
                                 b"\xfe" * 125), 1):
        yield Case(f"2.{i}", frame(PING, payload), (payload,))
    yield failing("2.5", frame(PING, b"\xfe" * 126))
    yield Case("2.6", frame(PING, b"\xfe" * 125), (b"\xfe" * 125,), chop=1)
    yield Case("2.7", frame(PONG))
    yield Case("2.8", frame(PONG, b"unsolicited"))
    yield Case("2.9", frame(PONG, b"unsolicited") + frame(PING, b"ping"),
               (b"ping",))
    ten = tuple(b"payload-%d" % i for i in range(10))
    data = b"".join(frame(PING, x) for x in ten)
    yield Case("2.10", data, ten)
    yield Case("2.11", data, ten, chop=1)


def reserved():
    """Chapters 3 and 4: reserved bits and opcodes."""
    good = message(OPEN)
    yield failing("3.1", frame(TEXT, OPEN, rsv=1))
    for number, rsv, chop in (("3.2", 2, 0), ("3.3", 3, 0), ("3.4", 4, 1)):
        yield failing(number, good + frame(TEXT, OPEN, rsv=rsv) + frame(PING),
                      True, chop)
    yield failing("3.5", frame(BINARY, b"\0\xff\xfe", rsv=5))
    yield failing("3.6", frame(PING, b"Hello, world!", rsv=6))
    yield failing("3.7", frame(CLOSE, rsv=7))
    for chapter, opcodes in (("4.1", range(3, 8)), ("4.2", range(11, 16))):
        for i, opcode in enumerate(opcodes, 1):
            payload = b"" if i in (1, 3) else b"reserved opcode payload"
            before = good if i > 2 else b""
            yield failing(f"{chapter}.{i}", before + frame(opcode, payload)
                          + (frame(PING) if before else b""), bool(before),
                          1 if i == 5 else 0)


def fragmentation():
    """Chapter 5."""
    half = len(OPEN) // 2
    first = frame(TEXT, OPEN[:half], fin=False)
    last = frame(CONTINUATION, OPEN[half:])
    ping = frame(PING, b"ping")
    stray = b"non-continuation payload"
    yield failing("5.1", frame(PING, b"1", fin=False) + frame(CONTINUATION))
    yield failing("5.2", frame(PONG, b"1", fin=False) + frame(CONTINUATION))
    yield opening("5.3", first + last)
    yield opening("5.4", first + last, len(first))
    yield opening("5.5", first + last, 1)
    yield opening("5.6", first + ping + last, 0, [b"ping"])
    yield opening("5.7", first + ping + last, len(first), [b"ping"])
    yield opening("5.8", first + ping + last, 1, [b"ping"])
    for i, (fin, chop) in enumerate([(True, 0), (True, 30), (True, 1),
                                     (False, 0), (False, 30), (False, 1)], 9):
        yield failing(f"5.{i}", frame(CONTINUATION, stray, fin=fin)
                      + message(OPEN), chop=chop)
    yield failing("5.15", first + last + frame(CONTINUATION, stray, fin=False)
                  + message(OPEN), True)
    yield failing("5.16", (frame(CONTINUATION, stray, fin=False) + first + last)
                  * 2)
    yield failing("5.17", (frame(CONTINUATION, stray) + first + last) * 2)
    yield failing("5.18", first + frame(TEXT, OPEN[half:]))
    parts = fragments(OPEN, 5)
    data = (parts[0] + parts[1] + frame(PING, b"pongme 1!") + parts[2]
            + parts[3] + frame(PING, b"pongme 2!") + b"".join(parts[4:]))
    yield opening("5.19", data, 0, [b"pongme 1!", b"pongme 2!"])
    yield opening("5.20", data, 7, [b"pongme 1!", b"pongme 2!"])


def utf8():
    """Chapter 6. A text that is not JSON is read, and refused with 1008."""
    yield refused("6.1.1", message(b""), 1008)
    yield refused("6.1.2", b"".join([frame(TEXT, fin=False),
                                     frame(CONTINUATION, fin=False),
                                     frame(CONTINUATION)]), 1008)
    yield opening("6.1.3", b"".join([frame(TEXT, fin=False),
                                     frame(CONTINUATION, OPEN, fin=False),
                                     frame(CONTINUATION)]))
    yield refused("6.2.1", message(GREETING), 1008)
    yield refused("6.2.2", b"".join(fragments(GREETING, 12)), 1008)
    yield refused("6.2.3", b"".join(fragments(GREETING, 1)), 1008)
    yield refused("6.2.4", b"".join(fragments(KOSME, 1)), 1008)
    bad = KOSME + b"\xed\xa0\x80" + b"edited"
    yield refused("6.3.1", message(bad), 1007)
    yield refused("6.3.2", b"".join(fragments(bad, 1)), 1007)
    # The rest of the message is never sent: the server has to notice before.
    for i, part in enumerate((b"\xf4\x90\x80\x80", b"\xf4\x90"), 1):
        yield refused(f"6.4.{i}", frame(TEXT, KOSME, fin=False)
                      + frame(CONTINUATION, part, fin=False), 1007)
        whole = frame(TEXT, KOSME + part + b"edited")
        # The head and the mask of the frame are 6 bytes.
        yield refused(f"6.4.{i + 2}", whole[:6 + len(KOSME) + len(part)], 1007)
    for number, payload, is_valid in UTF8_CASES:
        yield refused(number, message(payload), 1008 if is_valid else 1007)


def closing():
    """Chapter 7."""
    good = message(OPEN)
    yield opening("7.1.1", good)
    end = close_frame(1000)
    for i, data in enumerate((end + end, end + frame(PING), end + good), 2):
        yield Case(f"7.1.{i}", data, codes=(1000,))
    yield Case("7.1.5", frame(TEXT, OPEN, fin=False) + end
               + frame(CONTINUATION, b" "), codes=(1000,))
    # The server may close before it answers the message.
    yield Case("7.1.6", message(sized(256 * 1024)) + end + frame(PING), (),
               True, (1000,), may_lack=True)
    yield Case("7.3.1", frame(CLOSE), codes=(1000, 1005))
    yield failing("7.3.2", frame(CLOSE, b"a"))
    yield Case("7.3.3", end, codes=(1000,))
    yield Case("7.3.4", close_frame(1000, b"Hello"), codes=(1000,))
    yield Case("7.3.5", close_frame(1000, b"*" * 123), codes=(1000,))
    yield failing("7.3.6", close_frame(1000, b"*" * 124))
    yield Case("7.5.1", close_frame(1000, KOSME + b"\xed\xa0\x80edited"),
               codes=(1002, 1007))
    for i, code in enumerate((1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010,
                              1011, 3000, 3999, 4000, 4999), 1):
        yield Case(f"7.7.{i}", close_frame(code), codes=(1000, code))
    for i, code in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000,
                              2999), 1):
        yield failing(f"7.9.{i}", close_frame(code))
    for i, code in enumerate((5000, 65_535), 1):  # RFC 6455 leaves these open
        yield Case(f"7.13.{i}", close_frame(code), codes=(1000, 1002, code))


def sizes():
    """Chapters 9 and 10. The largest message of the server has 1 MiB, where the
    suite goes on to 16 MiB, and has 4 MiB in its fragments."""
    most = 1024 * 1024
    for i, size in enumerate((64 * 1024, 256 * 1024, most), 1):
        yield opening(f"9.1.{i}", message(sized(size)))
        yield refused(f"9.2.{i}", frame(BINARY, b"\xfe" * size), 1003)
    for i, size in enumerate((4 * most, 8 * most, 16 * most), 4):
        yield refused(f"9.1.{i}", message(sized(size)), 1009)
        yield refused(f"9.2.{i}", frame(BINARY, b"\xfe" * size), 1009)
    for i, part in enumerate((64, 256, 1024, 4096, 16 * 1024, 64 * 1024,
                              256 * 1024, most), 1):
        yield opening(f"9.3.{i}", b"".join(fragments(sized(most), part)))
        yield refused(f"9.4.{i}", b"".join(fragments(b"\xfe" * most, part,
                                                     BINARY)), 1003)
    for number, opcode in (("9.3.9", TEXT), ("9.4.9", BINARY)):
        yield refused(number, b"".join(fragments(sized(4 * most), 4 * most,
                                                 opcode)), 1009)
    for i, chop in enumerate((64, 128, 256, 512, 1024, 2048), 1):
        # A quarter of the suite's size: what counts is that of the pieces.
        yield opening(f"9.5.{i}", message(sized(most // 4)), chop)
        yield refused(f"9.6.{i}", frame(BINARY, b"\xfe" * (most // 4)), 1003,
                      chop)
    yield opening("10.1.1", b"".join(fragments(sized(65_536), 1300)))


def own():
    """What the suite does not have."""
    for count in (100, 1000):
        payloads = tuple(b"%d" % x for x in range(count))
        yield Case(f"{count} pings",
                   b"".join(frame(PING, x) for x in payloads), payloads)
    # Codes that were registered later, and that of TLS, which is never sent.
    for code in (1012, 1013):
        yield Case(f"close code {code}", close_frame(code), codes=(1000, code))
    yield failing("close code 1015", close_frame(1015))
    yield Case("close code 1014", close_frame(1014), codes=(1000, 1002, 1014))
    yield failing("unmasked ping", frame(PING, b"x", masked=False))
    yield failing("unmasked close frame",
                  frame(CLOSE, b"\x03\xe8", masked=False))
    yield failing("unmasked fragment", frame(TEXT, OPEN[:5], fin=False)
                  + frame(CONTINUATION, OPEN[5:], masked=False))
    yield failing("close frame in fragments",
                  frame(CLOSE, b"\x03\xe8", fin=False))
    yield failing("unmasked", frame(TEXT, OPEN, masked=False))
    # A length with its first bit set, and one that is not minimal.
    yield Case("length of 2^63", frame(TEXT, b"", length=1 << 63),
               codes=(1002, 1009))
    yield Case("length of 2^62", frame(TEXT, b"", length=1 << 62),
               codes=(1009,))
    yield failing("length of 5 in 8 bytes",
                  b"\x81\xff" + (5).to_bytes(8, "big") + b"\0\0\0\0hello")
    yield Case("message of 1 MiB and a byte", message(sized(1024 * 1024 + 1)),
               codes=(1009,))
    yield Case("fragments of 1 MiB and a byte",
               b"".join(fragments(sized(1024 * 1024 + 1), 8192)),
               codes=(1009,))
    yield Case("endless empty fragments", frame(TEXT, b"{", fin=False)
               + frame(CONTINUATION, fin=False) * 20_000 + frame(PING, b"x"),
               (b"x",))


def all_cases():
    for chapter in (messages, pings, reserved, fragmentation, utf8, closing,
                    sizes, own):
        yield from chapter()
