# SPDX-License-Identifier: BSD-3-Clause

"""Grammar of bad JSON bodies for the routes of docs/server.md."""

import json

from server import AGENT
from wire import said

KEY = AGENT[1:]

# Members that the body of a route may have, with a good value each.
OPEN = {"init": {}, "inputs": [said("Hi")], "close": True, "session": "s",
        "snapshot": "s", "live": "refuse", "resume": False, "turn": "t",
        "run": "r", "attach": True, "after": 0, "role": "talker",
        "keep": False, "grace": "PT0S", "deadline": "PT1S", "inputWindow": 4,
        "chunkWindow": 4, "outputMessages": 0}
INPUTS = {"inputs": [said("Hi")], "number": 0, "close": True, "cancel": True,
          "confirm": True}
COPY = {"session": "a", "from": "b", "at": "1"}
CHANGE = {"title": "t", "head": "1"}
NOTE = {"add": ["a"], "remove": ["b"], "note": "n"}
GENKIT = {"data": {"message": said("Hi")["messages"][0], "resume": {},
                   "detach": False},
          "init": {"snapshotId": "s", "sessionId": "s", "state": {}}}
LOOKUP = {"data": {"snapshotId": "s@t", "sessionId": "s"}}

# Method, target, and members of the body.
ROUTES = [
    ("POST", f"/actions/{KEY}", OPEN), ("POST", f"/runs/{KEY}", OPEN),
    ("POST", f"/inputs/{KEY}?run=none", INPUTS),
    ("POST", f"/inputs/{KEY}?session=none", INPUTS),
    ("POST", f"/sessions/{KEY}", COPY),
    ("PATCH", f"/sessions/{KEY}?session=none", CHANGE),
    ("PATCH", f"/snapshots/{KEY}?session=none&snapshot=1", NOTE),
    ("POST", f"/genkit/{KEY}", GENKIT),
    ("POST", f"/genkit/{KEY}/getSnapshot", LOOKUP),
    ("POST", f"/genkit/{KEY}/abort", LOOKUP),
    ("POST", "/actions/attack/none", OPEN), ("POST", "/sessions/x", COPY),
    ("POST", "/genkit/x/getSnapshot", LOOKUP),
]

# Values that have the wrong type, or are out of range, at many places.
ODD_VALUES = [
    b"null", b"true", b"-1", b"0", b"1.5", b"1e30", b"-1e400", b"1e400",
    b"4294967296", b"18446744073709551615", b"18446744073709551616",
    b"-9223372036854775809", b"9" * 400, b"0." + b"0" * 300 + b"1", b"[]",
    b"{}", b"[[]]", b'[{"messages":[]}]', b'[{"messages":null}]',
    b'[{"messages":[{"role":"user","content":[{}]}]}]',
    b'[{"messages":[{"role":"king","content":[{"text":"x"}]}]}]',
    b'[{"messages":[{"role":"user","content":[{"text":1}]}]}]',
    b'[{"messages":[{"role":"tool","content":[{"toolResponse":{}}]}]}]',
    b'""', b'"\\u0000"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"../../x"',
    b'"x/y"', b'"\\n"', b'"%00"', b'"PT"', b'"P1Y"', b'"PT1E9S"', b'"PT-1S"',
    b'"PT99999999999999999999S"', b'"PT0.0000000001S"', b'"talker "',
    b'"' + b"x" * 300 + b'"', '"\u202e\U0001f600"'.encode(),
]

BAD_TEXTS = [
    b"", b" ", b"{", b"}", b"[", b'"', b"{]", b"[}", b"nul", b"tru", b"NaN",
    b"Infinity", b"-", b"+1", b"01", b"1.", b".5", b"1e", b"0x1", b"'a'",
    b"{a:1}", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{,}', b"[1,]", b"[,]",
    b'{"a":1}{"a":1}', b"{} x", b"\xef\xbb\xbf{}", b"\0", b"{}\0", b'"\x01"',
    b'"\\x"', b'"\\u12"', b'"\\ud800', b"/**/{}", b"{}//", b"\xff\xfe{\0}\0",
    b'{"inputs":["\xff"]}', b'{"inputs":["\xed\xa0\x80"]}', b'"\xc0\x80"',
    b'{"\xf5":1}', b'{"session":"\xe2\x82"}', b"=&=", b"a=b&c=d", b"<x/>",
]


def deep(rng):
    """Returns a document of many levels."""
    levels = rng.choice((150, 199, 200, 201, 500, 2_000, 8_000))
    begin, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}"),
                             (b'[{"":', b"}]")))
    whole = begin * levels + b"1"
    if rng.random() < 0.7:
        whole += end * levels
    return rng.choice((b"%s", b'{"inputs":[%s]}', b'{"init":%s}',
                       b'{"data":%s}')) % whole


def with_odd_member(rng, members):
    """Returns an object, of good members and one that is odd or unknown."""
    names = rng.sample(list(members), min(len(members), rng.randrange(1, 4)))
    odd = names[0] if rng.random() < 0.9 else rng.choice(
        ("inputz", "", "\u0000", "constructor", "INPUTS", "input"))
    parts = [b"%s:%s" % (json.dumps(odd).encode(), rng.choice(ODD_VALUES))]
    parts += [b"%s:%s" % (json.dumps(x).encode(),
                          json.dumps(members[x]).encode()) for x in names[1:]]
    rng.shuffle(parts)
    if rng.random() < 0.05:
        parts.append(parts[0])  # the same member twice
    return b"{" + b",".join(parts) + b"}"


def mutated(rng, data, most=4):
    """Returns bytes with a few changes."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, most + 1)):
        if not data:
            break
        i = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[i] = rng.randrange(256)
        elif kind == 1:
            data[i] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[i:i + rng.randrange(1, 9)]
        elif kind == 3:
            data[i:i] = bytes([rng.choice(b"\0\r\n :;,\"{}[]%/\\\xff-+09aZ")]) \
                * rng.randrange(1, 4)
        elif kind == 4:
            j = rng.randrange(len(data))
            data[i:i] = data[min(i, j):max(i, j)][:64]
        else:
            data[i:i + 1] = rng.choice((b"\r\n", b"\r", b"\n", b"\r\n\r\n",
                                        b"\xc3\x28", b"%", b"%0", b"\t"))
    return bytes(data)


def body(rng):
    """Returns method, target and body of a request."""
    method, target, members = rng.choice(ROUTES)
    kind = rng.random()
    if kind < 0.5:
        text = with_odd_member(rng, members)
    elif kind < 0.7:
        text = rng.choice(BAD_TEXTS)
    elif kind < 0.8:
        text = deep(rng)
    else:
        text = mutated(rng, json.dumps(members).encode())
    return method, target, text
