# SPDX-License-Identifier: BSD-3-Clause

"""Pages of other sites: which origins are served, what a preflight and an
answer say of it, and WebSockets of a page.

Of a refused page nothing but 403 may be heard: no answer of it has
Access-Control-Allow-Origin, without which a browser shows nothing to the page.
"""

import json

import strangers
from half_closed import expect
from server import AGENT
from strangers import ANN, bearer
from web_socket import WebSocket, message, upgrade
from wire import Violation, request, said

ALLOWED = ["https://a.example", "http://b.example:8081"]
ALLOW_ORIGIN = b"access-control-allow-origin"

# Fields that a browser shows to a page only if the answer allows it: the time
# after which to try again, and the name of a durable stream.
EXPOSED = {"retry-after", "x-genkit-stream-id"}

# Origins of nobody who is allowed. The last ones are no origins.
REFUSED = [
    "null", "http://evil.example", "http://a.example", "https://a.example:444",
    "https://xa.example", "https://a.example.evil.example", "https://a.exampl",
    "https://evil.example/https://a.example", "https://a.example@evil.example",
    "http://b.example", "http://b.example:80810", "http://b.example:808",
    "http://localhost:1", "http://localhost.evil.example",
    "http://evil.example/localhost", "http://127.0.0.1", "http://[::1]",
    "file://", "http://", "*", "localhost", "https://a.example, null",
    "https://a.example https://evil.example", "\xff",
]


def from_page(origin):
    return [("Origin", origin)]


def call(server, method, target, body=None, fields=(), host="localhost"):
    with server.connect(timeout=5) as at:
        data = request(method, target, body, fields)
        at.send(data.replace(b"Host: localhost\r\n",
                             f"Host: {host}\r\n".encode()))
        answer = at.read_answer(method)
        if method != "HEAD":
            answer.check_error()
        return answer


def list_of(answer, name):
    return {x.strip() for x in answer.fields.get(name, b"").decode().split(",")}


def check_allowed(answer, origin, *statuses):
    """Checks an answer that a page may see."""
    if answer.status not in statuses:
        raise Violation(f"answered with {answer.status}, not {statuses}: "
                        f"{answer.body[:200]!r}")
    if answer.fields.get(ALLOW_ORIGIN) != origin.encode():
        raise Violation(f"{answer.status} allows the origin "
                        f"{answer.fields.get(ALLOW_ORIGIN)}, not {origin}")
    if answer.fields.get(b"vary") != b"Origin":
        raise Violation(f"{answer.status} varies with "
                        f"{answer.fields.get(b'vary')}, not with the origin")
    exposed = {x.lower()
               for x in list_of(answer, b"access-control-expose-headers")}
    if exposed != EXPOSED:
        raise Violation(f"{answer.status} exposes the fields {exposed}")
    if b"access-control-allow-credentials" in answer.fields:
        raise Violation("cookies are allowed, which the server does not know")


def check_hidden(answer, *statuses):
    """Checks an answer that no page may see."""
    if answer.status not in statuses:
        raise Violation(f"answered with {answer.status}, not {statuses}: "
                        f"{answer.body[:200]!r}")
    found = [x for x in answer.fields if x.startswith(b"access-control-")]
    if found:
        raise Violation(f"{answer.status} has {found}")


# -- answers -------------------------------------------------------------------

# Method, target, body, statuses: answers of each kind, with a token.
ANSWERS = [
    ("GET", "/healthz", None, 200), ("HEAD", "/healthz", None, 200),
    ("GET", "/actions", None, 200),
    ("POST", "/actions" + AGENT, {"inputs": [said("Hello")]}, 200),
    ("POST", "/runs" + AGENT, {"grace": "PT0.1S"}, 201),
    ("GET", "/sessions" + AGENT, None, 200),
    ("GET", "/none", None, 404), ("GET", "/actions/zz/none", None, 404),
    ("GET", f"/runs{AGENT}?run=none", None, 404),
    ("GET", f"/events{AGENT}?run=none", None, 404),
    ("PUT", "/actions" + AGENT, {}, 405),
    ("POST", "/actions" + AGENT, b"{", 400),
    ("POST", "/actions" + AGENT, {"unknown": 1}, 400),
    ("GET", "/actions/%zz", None, 400), ("GET", "/talk" + AGENT, None, 426),
    ("POST", "/genkit" + AGENT, {"data": 1}, 400),
]


def check_answers(server, origin):
    for method, target, body, status in ANSWERS:
        fields = from_page(origin) + bearer(ANN)
        check_allowed(call(server, method, target, body, fields), origin,
                      status)


def check_refusals(server, origin):
    """A page that is not allowed hears 403, whatever it asks."""
    for method, target, body, _ in ANSWERS:
        for fields in ([], bearer(ANN)):
            check_hidden(call(server, method, target, body,
                              from_page(origin) + fields), 403)


def check_unread(server, origin):
    """A page hears why a request was not read, if it is allowed."""
    for other in (origin, "https://example.com"):
        answer = call(server, "POST", "/actions" + AGENT, b"x" * (2**20 + 1),
                      from_page(other) + bearer(ANN))
        if other == origin:
            check_allowed(answer, origin, 413)
        else:
            check_hidden(answer, 413)
    for origins in ((origin, "null"), ("null", origin), (origin, origin)):
        fields = [field for x in origins for field in from_page(x)]
        check_hidden(call(server, "GET", "/healthz", fields=fields), 400)


def check_stranger(server, origin):
    """A page learns that it needs a token."""
    for method, target in (("GET", "/actions"), ("POST", "/actions" + AGENT),
                           ("GET", f"/events{AGENT}?run=none")):
        answer = call(server, method, target, fields=from_page(origin))
        check_allowed(answer, origin, 401)
        strangers.check_refusal(answer, target)


def check_streams(server, origin):
    accept = [("Accept", "text/event-stream"), *from_page(origin), *bearer(ANN)]
    turn = {"data": {"message": said("Hello")["messages"][0]}}
    for target, body in (
            ("/actions" + AGENT, {"inputs": [said("Hello")]}),
            ("/genkit" + AGENT, turn),
            (f"/genkit{AGENT}?durable=true", turn)):
        answer = call(server, "POST", target, body, accept)
        check_allowed(answer, origin, 200)
        if (b"x-genkit-stream-id" in answer.fields) != ("durable" in target):
            raise Violation(f"{target} has the fields {answer.fields}")
        if answer.fields.get(b"content-type") != b"text/event-stream":
            raise Violation(f"{target} is answered with "
                            f"{answer.fields.get(b'content-type')}")
    opened = expect(call(server, "POST", "/runs" + AGENT,
                         {"inputs": [said("Hello")], "close": True},
                         bearer(ANN)), 201).json()
    answer = call(server, "GET", f"/events{AGENT}?run={opened['run']}&after=0",
                  fields=accept)
    check_allowed(answer, origin, 200)
    if b"event: output" not in answer.body:
        raise Violation(f"the stream is {answer.body[-200:]!r}")


def check_next(server, origin):
    """The origin of a request does not count for the next one."""
    with server.connect(timeout=5) as at:
        for fields, check in ((from_page(origin), check_allowed), ([], None),
                              (from_page("null"), None)):
            at.send(request("GET", "/healthz", fields=fields))
            answer = at.read_answer()
            if check:
                check(answer, origin, 200)
            else:
                check_hidden(answer, 403 if fields else 200)


def check_same_host(server):
    """A page of this host is not another site, whatever its scheme: a proxy may
    encrypt."""
    port = server.port
    for host, origin in (
            ("localhost", "http://localhost"),
            ("localhost", "https://localhost"),
            (f"localhost:{port}", f"http://localhost:{port}"),
            (f"LocalHost:{port}", f"http://localhost:{port}"),
            (f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"),
            (f"[::1]:{port}", f"http://[::1]:{port}")):
        check_allowed(call(server, "GET", "/actions", None,
                           from_page(origin) + bearer(ANN), host), origin, 200)
    for host, origin in (
            (f"localhost:{port}", "http://localhost"),
            (f"localhost:{port}", f"http://127.0.0.1:{port}"),
            (f"localhost:{port}", f"http://localhost:{port + 1}"),
            # A page whose own name has the address of this host.
            (f"evil.example:{port}", f"http://evil.example:{port}")):
        check_hidden(call(server, "GET", "/actions", None,
                          from_page(origin) + bearer(ANN), host), 403)


# -- preflights ----------------------------------------------------------------

# Fields that the clients of docs/server.md send.
FIELDS = {"authorization", "content-type", "last-event-id", "traceparent",
          "x-genkit-stream-id"}


def ask(server, origin, target, method="POST"):
    """Sends what a browser asks, which has no token."""
    return call(server, "OPTIONS", target, fields=[
        *from_page(origin), ("Access-Control-Request-Method", method),
        ("Access-Control-Request-Headers", "authorization,content-type")])


def check_preflight(server, origin, method, target):
    answer = ask(server, origin, target, method)
    check_allowed(answer, origin, 204)
    methods = list_of(answer, b"access-control-allow-methods")
    if method not in methods or "OPTIONS" not in methods:
        raise Violation(f"{method} is not among the methods {methods}")
    fields = {x.lower()
              for x in list_of(answer, b"access-control-allow-headers")}
    if not FIELDS <= fields:
        raise Violation(f"the fields are {fields}")
    if answer.fields.get(b"access-control-max-age") != b"600":
        raise Violation("the answer to a preflight is not kept for 600 s")
    check_hidden(ask(server, "http://evil.example", target, method), 403)


# -- WebSockets ----------------------------------------------------------------

def check_socket(server, origin):
    """A page may talk if its origin is allowed, and it has a token."""
    options = {"Origin": origin,
               "Sec_WebSocket_Protocol": "tertulia.1, bearer." + ANN}
    with WebSocket(server.connect(timeout=5), **options) as at:
        at.open(keep=False)
        at.send(message(json.dumps({"close": True})))
        while "output" not in at.read_json():
            pass
    with server.connect(timeout=5) as at:
        at.send(upgrade(Origin=origin, Sec_WebSocket_Protocol="tertulia.1"))
        check_allowed(at.read_answer(), origin, 401)


def check_refused_socket(server, origin, **fields):
    """A browser does not ask before it opens a WebSocket: 403 is all that
    keeps a foreign page away."""
    with server.connect(timeout=5) as at:
        at.send(upgrade(Origin=origin, **fields))
        answer = at.read_answer()
        answer.check_error()
        check_hidden(answer, 403)


def start(program, folder, *origins):
    options = [x for origin in origins for x in ("--origin", origin)]
    return strangers.start(program, folder, "-q", "--sessions", *options)


def pages(server, campaign):
    """Pages of two sites that are allowed, and of others."""
    for origin in ALLOWED:
        for name, check in (("answers to", check_answers),
                            ("401 for", check_stranger),
                            ("unread requests of", check_unread),
                            ("event streams of", check_streams),
                            ("requests behind that of", check_next),
                            ("WebSocket of", check_socket)):
            campaign.attempt(f"{name} {origin}", lambda x=origin, check=check:
                             check(server, x))
        for method, target, _ in strangers.routes(server):
            campaign.attempt(
                f"preflight of {method} {target}", lambda x=(
                    origin, method, target): check_preflight(server, *x))
        campaign.attempt("preflight of an unknown path", lambda x=origin:
                         check_allowed(ask(server, x, "/none"), x, 404))
    for origin in REFUSED:
        campaign.attempt(f"answers to {origin}", lambda x=origin:
                         check_refusals(server, x))
        for fields in ({}, {"Sec_WebSocket_Protocol": "bearer." + ANN},
                       {"Authorization": "Bearer " + ANN}):
            campaign.attempt(f"WebSocket of {origin}", lambda x=origin,
                             y=fields: check_refused_socket(server, x, **y))
    campaign.attempt("pages of this host", lambda: check_same_host(server))


def every_page(server, campaign):
    """Pages of every site, also those without an origin of their own."""
    for origin in ("null", "http://evil.example", "file://"):
        campaign.attempt(f"answers to {origin}", lambda x=origin:
                         check_answers(server, x))
        campaign.attempt(f"WebSocket of {origin}", lambda x=origin:
                         check_socket(server, x))
