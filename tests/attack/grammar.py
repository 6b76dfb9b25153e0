# SPDX-License-Identifier: BSD-3-Clause

"""Seeded grammar of malformed requests.

A WHOLE request has a head that can be read, and a body whose end is certain:
one answer belongs to it, and the connection stays in step. A LAST one cannot be
read: at most a refusal belongs to it, and nothing behind it is read. Of a FREE
one, which is a good request with random changes, only the form of the answers
is certain.
"""

import json

from bodies import AGENT, KEY, body, mutated
from wire import request, said

WHOLE, LAST, FREE = "whole", "last", "free"

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get",
           "PROPFIND", "M-SEARCH", "X", "G!#$%&'*+-.^_`|~T", "SUBSCRIBE"]

PATHS = ["/", "//", "/actions", "/actions/", f"/actions/{KEY}",
         f"/actions/{KEY}/", f"/actions//{KEY}", f"/actions/{KEY}%00",
         "/actions/%", "/actions/%2", "/actions/%zz", "/actions/%ff",
         "/actions/%c0%80", "/actions/%ed%a0%80", "/actions/%00", "/%2e%2e/",
         "/actions/../healthz", f"/actions/%2f{KEY}", "/runs", f"/runs/{KEY}",
         f"/inputs/{KEY}", f"/events/{KEY}", f"/sessions/{KEY}",
         f"/snapshots/{KEY}", f"/diffs/{KEY}", f"/exports/{KEY}",
         "/actions/x", "/runs/x", "/sessions/x", "/snapshots/x?session=s",
         "/exports/x?session=s", "/genkit/x", "/talk/x",
         f"/genkit/{KEY}", f"/talk/{KEY}", "/talk/attack/none",
         "/openapi.json/",
         "/healthz/x", "/readyz", "/metric", "*", "healthz", "localhost:80",
         "http://localhost/healthz", "/;x", "/\\", "/a|b", "/{x}", "/\"x\"",
         "/<script>", "/\x80\xff", "/" + "a/" * 500]

QUERIES = ["", "?", "?run", "?run=", "?run=%", "?run=%zz", "?run=%ff",
           "?run=none&run=", "?=", "?&&&", "?run=x&after=-1",
           "?run=x&after=1e3",
           "?run=x&after=18446744073709551616", "?run=x&after=%31",
           "?session=x&after=0x1", "?session=%00", "?session=a/b", "?limit=x",
           "?limit=-1&session=x", "?limit=99999999999999999999", "?run=x#y",
           "?session=x&snapshot=%", "?session=x&before=1&after=2",
           "?session=x&before=&after=", "?" + "a=b&" * 300, "?run=a+b", "?%=%",
           "?session=" + "x" * 2_000, "?run=\x80", "?durable=true&stream=true"]

FIELDS = [
    ("Host", "evil.example"), ("Host", ""), ("Host", "[::1"), ("Host", ":"),
    ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "://"),
    ("Authorization", "Bearer "), ("Authorization", "Basic eDp5"),
    ("Authorization", "Bearer " + "x" * 500), ("Accept", ",,;q=x"),
    ("Accept", "text/event-stream"), ("Last-Event-ID", "-1"),
    ("Last-Event-ID", "x" * 300), ("Last-Event-ID", "9" * 30),
    ("traceparent", "00-zz-zz-zz"), ("traceparent", "x" * 1_000),
    ("Content-Type", "text/xml"), ("Content-Encoding", "gzip"),
    ("Expect", "100-continue"), ("Expect", "x"), ("Range", "bytes=0-"),
    ("If-Match", "*"), ("Cookie", "a=b; " * 100), ("X", "\xff\xfe"),
    ("x-genkit-stream-id", "\xff"), ("Connection", "close"),
    ("Connection", "x, y"), ("Upgrade", "h2c"), ("Upgrade", "websocket"),
    ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Protocol", "bearer."),
    ("Access-Control-Request-Method", "\xff"), ("TE", "trailers"),
    ("Forwarded", "for=\"_x\""), ("Max-Forwards", "-1"),
]

BAD_LINES = [b"", b"GET", b"GET ", b"GET  HTTP/1.1", b"GET / HTTP/", b"\0",
             b"GET / HTTP/9.9", b"GET / http/1.1", b"GET /\0 HTTP/1.1",
             b"GET / HTTP/1.1 x", b"G T / HTTP/1.1", b"GET\0/ HTTP/1.1",
             b"\xff\xfe / HTTP/1.1", b"GET / HTTP/1.1\n", b"HTTP/1.1 200 OK",
             b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b"SSH-2.0-x",
             b"GET / HTTP/1.1\r", b"G\xc3\x89T / HTTP/1.1",
             b"GET /\x7f HTTP/1.1"]

BAD_FIELDS = [b"X", b": x", b"X : y", b"X Y: z", b"X\0: y", b"X: \0",
              b"X: y\rz",
              b"(x): y", b"X@: y", b"\xff: x", b"X\t: y", b"X: \x7f",
              b"X: \x01",
              b"Content-Length: -1", b"Content-Length: x", b"Content-Length:",
              b"Content-Length: 1\r\nContent-Length: 2",
              b"Content-Length: 99999999999999999999999",
              b"Content-Length: 1e1",
              b"Content-Length: 9999999999", b"Connection: (", b"Connection: @"]

BAD_CHUNKS = [b"x", b"-1", b"0x1", b" 1", b"1 x", b"g", b"", b"1;;", b"1;=",
              b"1;a=", b"1;\0", b"ffffffffffffffff", b"fffffffffffffffff",
              b"+1",
              b"1\n", b"1\nx\r\n", b"100000000", b"2\r\nabc", b"1\r\nab\r\n"]

GOOD = [
    request("GET", "/actions"), request("GET", "/actions" + AGENT),
    request("GET", "/openapi.json"), request("GET", f"/runs/{KEY}?run=none"),
    request("DELETE", f"/runs/{KEY}?run=none"),
    request("GET", f"/events/{KEY}?run=none&after=3",
            fields=[("Last-Event-ID", "3")]),
    request("POST", f"/inputs/{KEY}?run=none", {"inputs": [1], "number": 0}),
    request("GET", f"/sessions/{KEY}?limit=3"),
    request("PATCH", f"/sessions/{KEY}?session=s", {"title": "x"}),
    request("GET", f"/diffs/{KEY}?session=s&before=1&after=2"),
    request("OPTIONS", "/actions", fields=[("Origin", "http://localhost")]),
    request("POST", f"/actions/{KEY}", {"init": {"state": {}}, "run": "none"}),
    request("POST", f"/actions/{KEY}", {"session": "s", "inputs": [1]}),
    request("POST", f"/genkit/{KEY}/getSnapshot",
            {"data": {"snapshotId": "x@y"}}),
    request("GET", f"/talk/{KEY}", fields=[
        ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", "MDAwMDAwMDAwMDAwMDAwMA=="),
        ("Sec-WebSocket-Version", "13")]),
    b"POST /actions/attack/x HTTP/1.1\r\nHost: localhost\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
]

# Good turns are rare, because they are a thousand times as slow.
TURN = request("POST", f"/actions/{KEY}", {"inputs": [said("Hello")]})


def encode(method, target, fields, text):
    lines = [f"{method} {target} HTTP/1.1"]
    if not any(name == "Host" for name, _ in fields):
        lines.append("Host: localhost")
    lines += [f"{name}: {value}" for name, value in fields]
    if text is not None:
        lines.append(f"Content-Length: {len(text)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (text or b"")


def chunked(rng, method, target, text):
    """Returns a request with a body in chunks, extensions and trailers."""
    parts = []
    while text:
        size = rng.randrange(1, len(text) + 1)
        parts.append(b"%x%s\r\n%s\r\n" % (
            size, rng.choice((b"", b"", b";a", b";a=b", b';a="b c"')),
            text[:size]))
        text = text[size:]
    parts.append(rng.choice((b"0\r\n\r\n", b"000\r\n\r\n",
                             b"0\r\nX: y\r\nZ: z\r\n\r\n")))
    head = (f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
            "Transfer-Encoding: chunked\r\n\r\n").encode()
    return head + b"".join(parts)


def whole(rng):
    """Returns method and bytes of a request that is answered once."""
    kind = rng.random()
    if kind < 0.45:
        method, target, text = body(rng)
        if rng.random() < 0.1:
            return method, chunked(rng, method, target, text)
        fields = [rng.choice(FIELDS)] if rng.random() < 0.1 else []
        return method, encode(method, target, fields, text)
    if kind < 0.455:
        return "POST", TURN
    method = "GET" if rng.random() < 0.5 else rng.choice(METHODS)
    target = rng.choice(PATHS)
    if rng.random() < 0.5:
        target += rng.choice(QUERIES)
    fields = rng.choices(FIELDS, k=rng.randrange(3))
    if rng.random() < 0.05:
        method = "HEAD"
    text = rng.choice((b"{}", b"x", b"")) if rng.random() < 0.2 else None
    return method, encode(method, target, fields, text)


def last(rng):
    """Returns the bytes of a request that cannot be read."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(BAD_LINES) + b"\r\nHost: localhost\r\n\r\n"
    if kind < 0.7:
        return (b"POST /actions/attack/x HTTP/1.1\r\nHost: localhost\r\n"
                + rng.choice(BAD_FIELDS) + b"\r\n\r\n")
    return (b"POST /actions/attack/x HTTP/1.1\r\nHost: localhost\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + rng.choice(BAD_CHUNKS)
            + b"\r\n\r\n")


def free(rng):
    """Returns the bytes of a good request with random changes."""
    return mutated(rng, rng.choice(GOOD))


def show(data):
    """Returns a request as a report names it."""
    text = json.dumps(data.decode("latin-1"))
    return text if len(text) < 700 else text[:450] + " ... " + text[-200:]
