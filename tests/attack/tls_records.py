# SPDX-License-Identifier: BSD-3-Clause

"""Table of bytes that are no TLS, and of records of wrong types, lengths and
numbers (RFC 8446, 5)."""

from hello import (ALERT, CHANGE_CIPHER, CLIENT_HELLO, DATA, HANDSHAKE,
                   HEARTBEAT, USUAL, extension, hello, hello_13, message,
                   record, records, sized)
from tls_hellos import BAD, EITHER, OPEN
from wire import request


def strange(rng, count):
    """Yields bytes of other protocols, and of none."""
    get = request("GET", "/healthz")
    yield "HTTP", get, BAD
    yield "HTTP without its end", get[:-2], BAD
    yield "one byte of HTTP", b"G", OPEN
    yield "POST", request("POST", "/healthz", {"inputs": []}), BAD
    yield ("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
           + b"\0\0\0\4\0\0\0\0\0", BAD)
    yield "CONNECT", request("CONNECT", "localhost:443"), BAD
    yield "protocol of proxies", b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n", BAD
    yield ("its second version", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
           + b"x" * 12, BAD)
    yield "SSH", b"SSH-2.0-OpenSSH_9.6\r\n", BAD
    yield "zeros", b"\0" * 4_096, BAD
    yield "hello of SSL 2", (b"\x80\x2e\x01\0\x02\0\x15\0\0\0\x10\x01\0\x80"
                             + b"x" * 34), BAD
    # That of SSL 2 may announce TLS; no client has sent it for long.
    yield "hello of SSL 2 for TLS", (b"\x80\x1f\x01\x03\x03\0\x06\0\0\0\x10\0"
                                     b"\xc0\x2b\0\x13\x01" + b"x" * 16), OPEN
    yield "datagram TLS", b"\x16\xfe\xfd" + b"\0" * 8 + sized(b"x" * 64), BAD
    for i in range(count):
        yield (f"random bytes {i}", rng.randbytes(rng.choice(
            (1, 5, 6, 50, 500, 20_000))), OPEN)
        yield (f"random record {i}", record(
            rng.choice((20, 21, 22, 23, 24)), rng.randbytes(
                rng.choice((1, 4, 50, 500)))), OPEN)
        yield (f"random hello {i}", records(HANDSHAKE, message(
            CLIENT_HELLO, rng.randbytes(rng.choice((1, 40, 500))))), OPEN)


def floods_of_records():
    """Yields records of which a server must not read any number."""
    good = hello()
    count = 20_000
    for name, part in (
            ("empty records", record(HANDSHAKE, b"")),
            ("warnings", record(ALERT, b"\1\x5a")),
            ("warnings without a meaning", record(ALERT, b"\1\xee")),
            ("ChangeCipherSpecs", record(CHANGE_CIPHER, b"\1")),
            ("empty alerts", record(ALERT, b"")),
            ("heartbeats", record(HEARTBEAT, b"\1\xff\xff")),
            ("empty data", record(DATA, b"")),
            ("HelloRequests", record(HANDSHAKE, message(0, b"")))):
        yield f"flood of {name}", part * count, BAD
        yield f"{name} behind a hello", good + part * count, EITHER
        yield (f"{name} behind a hello of TLS 1.3", hello_13() + part * count,
               EITHER)
    yield "flood of hellos", good * count, EITHER


def records_of():
    good = hello()
    for kind in (0, 1, 19, 23, 24, 25, 26, 100, 255):
        yield f"record of type {kind}", record(kind, good[5:]), BAD
    for version in (0, 0x200, 0x305, 0x400, 0xffff):
        yield f"record of version {version:#x}", record(
            HANDSHAKE, good[5:], version), EITHER
    for length in (18_433, 20_000, 0x8000, 0xffff):
        yield f"head of a record of {length} bytes", record(
            HANDSHAKE, b"", length=length), BAD
    yield "record of 16 385 bytes", record(HANDSHAKE, message(
        CLIENT_HELLO, b"\3\3" + b"x" * 16_379)), BAD
    yield "record of 18 432 bytes", record(HANDSHAKE, message(
        CLIENT_HELLO, b"\3\3" + b"x" * 18_426)), BAD
    yield "record of 18 432 bytes of data", record(DATA, b"x" * 18_432), BAD
    yield "empty record before a hello", record(HANDSHAKE, b"") + good, EITHER
    yield "HTTP as data", record(DATA, request("GET", "/healthz")), BAD
    yield "HTTP as data behind a hello", good + record(
        DATA, request("GET", "/healthz")), EITHER
    yield "Heartbleed", record(HEARTBEAT, b"\1\x40\0"), BAD
    yield "Heartbleed behind a hello", hello(
        extensions=USUAL + extension(15, b"\1")) + record(
            HEARTBEAT, b"\1\x40\0"), EITHER
    for level in (0, 1, 2, 3, 255):
        for code in (0, 10, 40, 50, 70, 80, 90, 100, 120, 255):
            yield f"alert {level}, {code}", record(
                ALERT, bytes([level, code])), OPEN
            yield f"alert {level}, {code} behind a hello", good + record(
                ALERT, bytes([level, code])), EITHER
    yield "alert of one byte", record(ALERT, b"\1"), OPEN
    yield "two alerts in a record", record(ALERT, b"\1\x5a" * 2), OPEN
    yield "alert of 10 000 bytes", record(ALERT, b"\1\x5a" * 5_000), BAD
    yield "alert in two records", record(ALERT, b"\1") + record(
        ALERT, b"\x5a"), OPEN
    for payload in (b"", b"\0", b"\2", b"\1\1", b"\1" * 1_000):
        yield f"ChangeCipherSpec {payload[:4]!r}", record(
            CHANGE_CIPHER, payload), OPEN
        yield f"ChangeCipherSpec {payload[:4]!r} behind a hello", good + record(
            CHANGE_CIPHER, payload), EITHER
    yield "early ChangeCipherSpec", good + record(
        CHANGE_CIPHER, b"\1") + record(HANDSHAKE, b"x" * 40), EITHER
    for kind in (1, 11, 15, 16, 20, 24):
        yield f"message {kind} behind a hello", good + record(
            HANDSHAKE, message(kind, b"x" * 32)), EITHER
    # OpenSSL skips 16 KiB of what it cannot decrypt.
    yield "early data", hello_13(extension(42)) + record(
        DATA, b"x" * 1_000) * 50, EITHER
