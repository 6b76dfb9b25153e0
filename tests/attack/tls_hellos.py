# SPDX-License-Identifier: BSD-3-Clause

"""Table of hellos of TLS clients that are right, wrong or weak, and of what is
sent instead of one (RFC 8446, 4)."""

from hello import (CLIENT_HELLO, GOOD_CIPHERS, GROUPS, HANDSHAKE, KEY_SHARE,
                   SIGNATURES, SSL_3, TLS_10, TLS_11, TLS_12, TLS_13, USUAL,
                   extension, hello, hello_13, hello_body, message, numbers,
                   protocols, record, records, server_name, share, sized,
                   versions)
from secure import client_hello

# Outcomes. BAD: no ServerHello, and the server ends the connection. OPEN: no
# ServerHello, and the end once the client has ended its half: the server may
# wait for more. GOOD: a ServerHello. EITHER: any of these.
BAD, OPEN, GOOD, EITHER = "bad", "open", "good", "either"

# Those that a server of TLS 1.1 has in common with its clients.
OLD_CIPHERS = (*GOOD_CIPHERS, 0xc009, 0xc00a, 0x2f)

WEAK = {
    "no cipher": (), "unknown": (0x0a0a, 0xfefe, 0xffff),
    "NULL": (0, 1, 2, 0x3b, 0xc006, 0xc010, 0xc015),
    "export": (3, 6, 8, 0x0b, 0x0e, 0x11, 0x14, 0x17, 0x19, 0x26, 0x29),
    "RC4 and DES": (4, 5, 9, 0x15, 0xc007, 0xc011),
    "triple DES": (0x0a, 0x16, 0xc008, 0xc012),
    "anonymous": (0x18, 0x1b, 0x34, 0x3a, 0x6c, 0xa6, 0xa7, 0xc018, 0xc019),
    "shared keys": (0x8c, 0x8d, 0xa8, 0xa9, 0xc035, 0xc036, 0xd001),
    "SRP": (0xc01d, 0xc020), "KRB5": (0x1f, 0x23),
    "of RSA": (0x2f, 0x35, 0x9c, 0x9d), "signals only": (0xff, 0x5600),
}


def with_13(**changes):
    """Returns a hello of TLS 1.3 with other values of what it needs."""
    parts = {"groups": GROUPS, "signatures": SIGNATURES,
             "versions": versions(TLS_13), "share": KEY_SHARE, **changes}
    return hello(extensions=b"".join(parts.values()), session=b"s" * 32)


def hellos_of(context):
    yield "real hello", client_hello(context), GOOD
    yield "hello of TLS 1.2", hello(), GOOD
    yield "hello of TLS 1.3", hello_13(), GOOD
    # Versions.
    for name, version in (("SSL 3", SSL_3), ("TLS 1.0", TLS_10),
                          ("TLS 1.1", TLS_11)):
        yield name, hello(version=version, ciphers=OLD_CIPHERS), BAD
        yield f"{name} only", hello(
            ciphers=OLD_CIPHERS, extensions=USUAL + versions(version)), BAD
        yield f"{name}, with the signal of a fallback", hello(
            version=version, ciphers=(*OLD_CIPHERS, 0x5600)), BAD
        yield f"{name} without extensions", hello(
            version=version, ciphers=OLD_CIPHERS, extensions=None), BAD
    yield "TLS 1.2, with the signal of a fallback", hello(
        ciphers=(*GOOD_CIPHERS, 0x5600)), BAD
    yield "old versions", hello(
        ciphers=OLD_CIPHERS,
        extensions=USUAL + versions(TLS_11, TLS_10, SSL_3)), BAD
    yield "version 1.4 only", hello(extensions=USUAL + versions(0x305)), BAD
    yield "version 0", hello(version=0), BAD
    yield "version 2.0", hello(version=0x200), BAD
    yield "version 255.255", hello(version=0xffff), EITHER
    yield "no versions", hello(extensions=USUAL + versions()), BAD
    yield "many versions", hello(
        extensions=USUAL + versions(*[TLS_12] * 127)), EITHER
    # Ciphers and compression.
    for name, ciphers in WEAK.items():
        yield f"ciphers: {name}", hello(ciphers=ciphers), BAD
        yield f"ciphers of TLS 1.3: {name}", hello_13(ciphers=ciphers), BAD
    yield "many ciphers", hello(ciphers=range(0x7f00)), EITHER
    yield "compression", hello(compression=b"\1\0"), EITHER
    yield "only compression", hello(compression=b"\1"), BAD
    yield "no compression method", hello(compression=b""), BAD
    yield "compression in TLS 1.3", hello_13(compression=b"\1\0"), BAD
    # Application protocols.
    yield "http/1.1", hello_13(protocols(b"http/1.1")), GOOD
    yield "h2 and http/1.1", hello_13(protocols(b"h2", b"http/1.1")), GOOD
    for names in ((b"h2",), (b"http/1.0",), (b"HTTP/1.1",), (b"http/1.1 ",),
                  (b"x" * 255,), (b"\0",), (b"h2c", b"h3", b"acme-tls/1"),
                  tuple(b"%d" % i for i in range(5_000))):
        name = f"protocols {names[:3]!r}"
        yield name[:60], hello_13(protocols(*names)), BAD
        yield name[:50] + " of 1.2", hello(
            extensions=USUAL + protocols(*names)), BAD
    yield "no protocols", hello_13(protocols()), BAD
    yield "protocol without a name", hello_13(protocols(b"")), BAD
    yield "protocols cut off", hello_13(extension(16, b"\0\x09\x08http")), BAD
    yield "empty protocols", hello_13(extension(16)), BAD
    # Names.
    for name in (b"", b"x" * 255, b"x" * 256, b"x" * 60_000, b"a\0b", b"\xff",
                 b"..", b"127.0.0.1", b"%s" * 50, b"../../etc/passwd"):
        yield (f"server name {name[:20]!r} of {len(name)} bytes",
               hello_13(server_name(name)), EITHER)
    yield "two server names", hello_13(extension(0, sized(
        (b"\0" + sized(b"a")) * 2))), EITHER
    yield "server name cut off", hello_13(
        extension(0, b"\0\x09\0\0\x06ab")), BAD
    # Extensions.
    yield "many extensions", hello_13(
        *(extension(i) for i in range(0x4000, 0x7000))), EITHER
    yield "long extension", hello_13(extension(0x4000, b"x" * 60_000)), EITHER
    yield "extension twice", hello_13(server_name(b"localhost") * 2), BAD
    yield "extension too long", hello_13(extension(0x4000, b"x", 500)), BAD
    yield "extension of one byte", hello_13(b"\0"), BAD
    yield "padding", hello_13(extension(21, b"\0" * 16_000)), EITHER
    yield "heartbeat", hello_13(extension(15, b"\1")), EITHER
    yield "cookie", hello_13(extension(44, sized(b"x" * 500))), EITHER
    yield "ticket of 40 KB", hello_13(extension(35, b"x" * 40_000)), EITHER
    yield "shared key before another", hello_13(
        extension(41, sized(sized(b"x" * 32) + b"\0" * 4)
                  + sized(sized(b"x" * 32, 1))), extension(0x4000)), BAD
    yield "shared key without modes", hello_13(
        extension(41, sized(sized(b"x" * 32) + b"\0" * 4)
                  + sized(sized(b"x" * 32, 1)))), BAD
    yield "shared keys that are unknown", hello_13(
        extension(45, b"\1\1"),
        extension(41, sized((sized(b"x" * 32) + b"\0" * 4) * 900)
                  + sized(sized(b"x" * 32, 1) * 900))), EITHER
    # Keys.
    for size in (0, 1, 31, 33, 5_000):
        yield f"key of {size} bytes", with_13(share=share(29, b"x" * size)), BAD
    yield "key of zeros", with_13(share=share(29, b"\0" * 32)), BAD
    yield "key that is not on its curve", with_13(
        share=share(23, b"\4" + b"x" * 64)), BAD
    yield "key of an unknown group", with_13(
        share=share(0xfefe, b"x" * 32)), EITHER
    yield "no groups", with_13(groups=b""), BAD
    yield "unknown groups", with_13(
        groups=extension(10, sized(numbers([0xfefe])))), BAD
    yield "no signatures", with_13(signatures=b""), BAD
    yield "signatures with MD5", with_13(
        signatures=extension(13, sized(numbers([0x0101, 0x0103])))), BAD
    yield "early data without a key", hello_13(extension(42)), EITHER


def messages_instead():
    """Yields messages that must not be the first one, and wrong lengths."""
    for kind in (0, 2, 4, 5, 8, 11, 12, 13, 14, 15, 16, 20, 24, 254, 255):
        yield (f"message {kind} first",
               record(HANDSHAKE, message(kind, b"x" * 40)), BAD)
    body = hello_body()
    yield "two hellos", hello() + hello(), EITHER
    yield "hello with bytes behind it", records(
        HANDSHAKE, message(CLIENT_HELLO, body + b"x")), BAD
    yield "hello without an end", record(
        HANDSHAKE, message(CLIENT_HELLO, body, len(body) + 1)), OPEN
    for length in (1 << 18, (1 << 24) - 1):
        yield f"message of {length} bytes", record(
            HANDSHAKE, message(CLIENT_HELLO, body, length)), BAD
    yield "message of 130 000 bytes", records(HANDSHAKE, message(
        CLIENT_HELLO, b"\3\3" + b"x" * 130_000)), BAD
    for size in (1, 3, 4, 5, 100):
        yield f"hello in records of {size} bytes", records(
            HANDSHAKE, message(CLIENT_HELLO, body), size), EITHER
    for cut in range(0, len(body), 7):
        yield f"hello of {cut} bytes", record(
            HANDSHAKE, message(CLIENT_HELLO, body[:cut])), BAD
