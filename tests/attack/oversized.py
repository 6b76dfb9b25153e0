# SPDX-License-Identifier: BSD-3-Clause

"""Requests beyond the limits of docs/server.md: `max_header` of 16 KiB and
`max_body` of 1 MiB. WebSocket messages beyond it are in web_socket_cases.py."""

from server import AGENT
from wire import Violation, request

MOST_HEAD = 16 * 1024
MOST_BODY = 1024 * 1024
MOST_RUNS = "/actions" + AGENT

# Bytes of something without end that a server may take before it refuses: a
# body, a head, and what its sockets hold.
PATIENCE = 16 * 1024 * 1024
HEAD = f"POST {MOST_RUNS} HTTP/1.1\r\nHost: localhost\r\n".encode()
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def chunked(*sizes):
    chunks = [b"%x\r\n%s\r\n" % (size, b" " * size) for size in sizes]
    return CHUNKED + b"".join(chunks) + b"0\r\n\r\n"


def with_length(length, body=b""):
    return HEAD + b"Content-Length: %d\r\n\r\n%s" % (length, body)


def field_of(size):
    return request("GET", "/healthz", fields=[("X", "x" * size)])


def table():
    """Yields name, bytes and expected status; None for any answer of a request
    that is within the limits."""
    many = [(f"X{i}", "x") for i in range(5_000)]
    yield "request line", request("GET", "/" + "x" * MOST_HEAD), 431
    yield "query", request("GET", "/actions?" + "x=y&" * 5_000), 431
    yield "method", request("M" * MOST_HEAD, "/healthz"), 431
    yield "header field", field_of(MOST_HEAD), 431
    yield "header fields", request("GET", "/healthz", fields=many), 431
    yield "field name", request("GET", "/healthz",
                                fields=[("x" * MOST_HEAD, "x")]), 431
    yield "good field", field_of(MOST_HEAD - 200), 200
    yield "good fields", request("GET", "/healthz", fields=many[:1_000]), 200
    yield "body", with_length(MOST_BODY + 1, b" " * (MOST_BODY + 1)), 413
    yield "announced body", with_length(MOST_BODY + 1), 413
    for bits in (31, 32, 53, 63):
        yield f"body of 2^{bits}", with_length(1 << bits), 413
    yield "body of 2^64", with_length(1 << 64), (400, 413)
    yield "body of 10^40", with_length(10 ** 40), (400, 413)
    yield "good body", with_length(MOST_BODY, b" " * MOST_BODY), 400
    yield "chunk", chunked(MOST_BODY + 1), 413
    yield "chunks", chunked(*[8_192] * 129), 413
    yield "good chunks", chunked(*[8_192] * 128), 400
    for size in (b"ffffffff", b"7fffffffffffffff", b"ffffffffffffffff",
                 b"1" + b"0" * 16, b"f" * 40):
        yield (f"chunk of {size.decode()}", CHUNKED + size + b"\r\n",
               (400, 413))
    yield ("body after Expect", HEAD + b"Expect: 100-continue\r\n"
           b"Content-Length: %d\r\n\r\n" % (MOST_BODY + 1), 413)


def check(server, data, expected):
    if isinstance(expected, int):
        expected = (expected,)
    with server.connect() as at:
        at.send(data)
        answer = at.read_answer()
        if answer.status not in expected:
            raise Violation(f"answered with {answer.status}, not {expected}")
        answer.check_error()
        if answer.status in (413, 431):
            if not answer.is_last:
                raise Violation("the answer does not close the connection")
            if not at.is_ended():
                raise Violation("bytes follow the last answer")


def requests(server, campaign):
    """Requests that are too large, each at once."""
    for name, data, expected in table():
        campaign.attempt(f"too large: {name}",
                         lambda data=data, expected=expected:
                         check(server, data, expected))


ENDLESS = [
    ("head", b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 1_000 + b"\r\n"),
    ("request line", b"GET /", b"x"),
    ("empty lines before a request", b"", b"\r\n"),
    ("body with a length", with_length(1 << 40), b"x"),
    ("chunked body", CHUNKED, b"400\r\n" + b"x" * 1_024 + b"\r\n"),
    ("chunk size", CHUNKED, b"0"),
    ("chunk extension", CHUNKED + b"1;", b"x"),
    ("extensions of many chunks", CHUNKED,
     b"1;" + b"x" * 8_000 + b"\r\nx\r\n"),
    ("trailer field", CHUNKED + b"0\r\nX: ", b"x"),
    ("trailer fields", CHUNKED + b"0\r\n", b"X: " + b"x" * 1_000 + b"\r\n"),
]


def check_endless(server, start, part):
    """Sends without end: the server has to refuse it before long, and must not
    keep what it reads."""
    before = server.resident()
    part *= (1 << 18) // len(part)
    with server.connect() as at:
        at.send(start)
        sent = 0
        while sent < 3 * PATIENCE and at.send(part):
            sent += len(part)
        growth = server.resident() - before
    if growth > PATIENCE // 1024 and not server.is_sanitized:
        raise Violation(f"after {sent >> 20} MiB the server has taken "
                        f"{growth >> 10} MiB more memory")
    if sent >= 3 * PATIENCE:
        raise Violation(f"the server reads more than {sent >> 20} MiB")


def endless(server, campaign):
    """Requests without an end, as fast as the server reads."""
    for name, start, part in ENDLESS:
        campaign.attempt(f"endless {name}",
                         lambda start=start, part=part:
                         check_endless(server, start, part))


def check_name(server, size, patience):
    """A name of any size is taken or refused, but answered."""
    with server.connect(timeout=patience) as at:
        at.send(request("POST", MOST_RUNS, {"session": "x" * size}))
        answer = at.read_answer()
        if answer.status not in (200, 400):
            raise Violation(f"answered with {answer.status}: "
                            f"{answer.body[:200]!r}")
        answer.check_error()


def names(server, campaign):
    """Names of sessions, beyond the 64 KiB from which on a client of a run is
    paused."""
    for size in (128, 1_024, 65_000, 66_000, 900_000):
        patience = 0.5 if campaign.has_found() else 5
        campaign.attempt(f"session with a name of {size} bytes", lambda:
                         check_name(server, size, patience))
