# SPDX-License-Identifier: BSD-3-Clause

"""Clients that end their half of a connection: before, in and behind a request,
in an event stream and in a WebSocket. With TLS the end of a half is a
close_notify.

A whole request has its whole answer, and one that is cut off has 400. Requests
that talk to a run are the exception: the server cannot tell the end of a half
from a client that has gone, so such a request is answered with 499, and leaves
its run, unless its answer was ready before.
"""

import json

from floods import HALVES
from server import AGENT
from slow import LARGE, TURN, end_run, open_run
from web_socket import (CONTINUATION, PING, PONG, TEXT, WebSocket,
                        close_frame, frame, message, upgrade)
from wire import Violation, request, said

HEALTH = request("GET", "/healthz")
CHUNKED = (f"POST /actions{AGENT} HTTP/1.1\r\nHost: localhost\r\n"
           "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n".encode())
EXPECTING = (f"POST /actions{AGENT} HTTP/1.1\r\nHost: localhost\r\n"
             "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n".encode())

# Name, bytes, and the statuses of each answer of which one must come.
CASES = [
    ("before a request", b"", []),
    ("in an empty line", b"\r", []),
    ("behind an empty line", b"\r\n", []),
    *((f"in {half[-40:]!r}", half, [(400,)]) for half in HALVES),
    ("before the body that is expected", EXPECTING, [(400,)]),
    ("before the last chunk", CHUNKED, [(400,)]),
    ("in the last chunk", CHUNKED + b"0\r", [(400,)]),
    ("in a trailer field", CHUNKED + b"0\r\nX: y\r\n", [(400,)]),
    ("in the next request", HEALTH + HALVES[1], [(200,), (400,)]),
    ("behind no request", b"no request\r\n\r\n", [(400,)]),
    ("behind two requests", HEALTH * 2, [(200,), (200,)]),
    *((f"behind {method} {target}", request(method, target, body), [statuses])
      for method, target, body, statuses in (
          ("GET", "/healthz", None, (200,)),
          ("GET", "/openapi.json", None, (200,)),
          ("GET", "/actions", None, (200,)),
          ("GET", "/none", None, (404,)),
          ("PUT", "/actions", {}, (405,)),
          ("GET", f"/runs{AGENT}?run=none", None, (404,)),
          ("POST", "/actions" + AGENT, b"{", (400,)),
          ("GET", f"/events{AGENT}?run=none", None, (404, 499)),
          ("POST", f"/inputs{AGENT}?run=none", {"inputs": [1]}, (404, 499)),
          ("POST", "/actions" + AGENT, {"inputs": [1]}, (400, 499)),
          ("POST", "/genkit" + AGENT, {"data": 1}, (400, 499)))),
    ("behind a turn", TURN, [(200, 499)]),
    ("behind two turns", TURN * 2, [(200,), (200, 499)]),
]


def check_case(server, data, expected, patience):
    with server.connect(timeout=patience) as at:
        at.send(data)
        at.half_close()
        for statuses in expected:
            answer = at.read_answer()
            answer.check_error()
            if answer.status not in statuses:
                raise Violation(f"answered with {answer.status}, not "
                                f"{statuses}: {answer.body[:200]!r}")
            if b"cannot be read" in answer.body and not answer.is_last:
                raise Violation("the answer does not close the connection")
        if not at.is_ended():
            raise Violation("bytes follow the last answer")


def check_late(server, data, patience):
    """An answer that has come before the end of the half."""
    with server.connect(timeout=patience) as at:
        at.send(data)
        at.read_answer()
        at.half_close()
        if not at.is_ended():
            raise Violation("bytes follow the answer")


# -- runs ----------------------------------------------------------------------

def call(server, method, target, body=None, is_half=False, patience=5):
    with server.connect(timeout=patience) as at:
        at.send(request(method, target, body))
        if is_half:
            at.half_close()
        answer = at.read_answer()
        answer.check_error()
        return answer


def expect(answer, *statuses):
    if answer.status not in statuses:
        raise Violation(f"answered with {answer.status}, not {statuses}: "
                        f"{answer.body[:200]!r}")
    return answer


def check_session_free(server, session):
    """The run of a client that has left ends soon."""
    server.wait_until(
        lambda: call(server, "POST", "/actions" + AGENT,
                     {"session": session}).status == 200,
        lambda: f"the session {session} stays live")


def check_turn(server):
    expect(call(server, "POST", "/actions" + AGENT,
                {"session": "half", "inputs": [said("Hello")]}, True),
           200, 499)
    check_session_free(server, "half")


def check_new_run(server):
    """A run whose client has left before its answer can be found by its
    session, or does not exist."""
    answer = expect(call(server, "POST", "/runs" + AGENT,
                         {"session": "half run", "grace": "PT1M"}, True),
                    201, 499)
    target = f"/runs{AGENT}?session=half+run"
    found = expect(call(server, "GET", target), 200, 404)
    if answer.status == 201 and found.status != 200:
        raise Violation("the run that was opened is not there")
    if found.status == 200:
        expect(call(server, "DELETE", target), 200)
    check_session_free(server, "half run")


def check_inputs(server):
    """An input is taken once, also if its client sends it again."""
    run = open_run(server)
    target = f"/inputs{AGENT}?run={run}"
    body = {"number": 0, "inputs": [said("Hello")]}
    first = expect(call(server, "POST", target, body, True), 202, 499)
    again = expect(call(server, "POST", target, {**body, "close": True}), 202)
    if first.status == 202 and again.json()["accepted"] != 0:
        raise Violation("an input was accepted, and is missing")
    events = call(server, "GET", f"/events{AGENT}?run={run}&after=0").body
    if events.count(b"event: turnEnd") != 1 or b"event: output" not in events:
        raise Violation(f"the run became {events[-400:]!r}")


def check_stream(server, is_busy):
    """An event stream ends as it should, and its run goes on.

    @param is_busy whether a turn is under way.
    """
    run = open_run(server)
    with server.connect(timeout=5) as at:
        at.send(request("GET", f"/events{AGENT}?run={run}&after=0"))
        status, _ = at.read_head()
        if status != 200:
            raise Violation(f"an event stream is answered with {status}")
        first = at.read_exactly(int(at.read_line(), 16) + 2)
        if not first.startswith(b"event: opened"):
            raise Violation(f"the stream begins with {first[:200]!r}")
        if is_busy:
            expect(call(server, "POST", f"/inputs{AGENT}?run={run}",
                        {"inputs": [LARGE]}), 202)
        at.half_close()
        end = at.read_chunks()
        if not at.is_ended():
            raise Violation("bytes follow the stream")
    if b"event: output" in end or b"event: error" in end:
        raise Violation(f"the stream tells of an end: {end[-200:]!r}")
    found = expect(call(server, "GET", f"/runs{AGENT}?run={run}"), 200)
    if found.json()["status"] != "running":
        raise Violation(f"the run is {found.body[:200]!r}")
    expect(call(server, "POST", f"/inputs{AGENT}?run={run}",
                {"inputs": [said("Hello")]}), 202)
    end_run(server, run)


# -- WebSockets ----------------------------------------------------------------

# Name, bytes behind the handshake, payload of a pong or None, close code of the
# server or None: without a close frame of its own the client gets none.
SOCKETS = [
    ("before a run", b"", None, None),
    ("in the head of a frame", message("x")[:1], None, None),
    ("in a frame", message('{"open":{}}')[:9], None, None),
    ("in a message", frame(TEXT, b'{"open"', fin=False)
     + frame(CONTINUATION, b":", fin=False), None, None),
    ("behind a ping", frame(PING, b"half"), b"half", None),
    ("behind a close frame", close_frame(1000), None, 1000),
]


def check_socket(server, data, pong, code):
    with WebSocket(server.connect(timeout=5)) as at:
        at.send(data)
        at.wire.half_close()
        found = at.read_to_end()
    if found != ([] if pong is None else [(PONG, pong)]):
        raise Violation(f"the server sends {found}")
    if at.close_code != code:
        raise Violation(f"closed with {at.close_code}, not with {code}")


def check_handshake(server):
    with server.connect(timeout=5) as at:
        at.send(upgrade())
        at.half_close()
        expect(at.read_answer(), 101)
        if not at.is_ended():
            raise Violation("bytes follow the handshake")


def check_talk(server, is_kept):
    """A kept run goes on without its WebSocket, another one ends."""
    options = {"session": "half talk", "keep": is_kept}
    if is_kept:
        options["grace"] = "PT1M"
    with WebSocket(server.connect(timeout=5)) as at:
        opened = at.open(**options)
        at.send(message(json.dumps({"input": said("Hello")})))
        while "turnEnd" not in at.read_json():
            pass
        at.wire.half_close()
        if rest := at.read_to_end():
            raise Violation(f"the server sends {rest}")
    if is_kept:
        target = f"/runs{AGENT}?run={opened['run']}"
        found = expect(call(server, "GET", target), 200)
        if found.json()["status"] != "running":
            raise Violation(f"the run is {found.body[:200]!r}")
        end_run(server, opened["run"])
    check_session_free(server, "half talk")


def half_closed(server, campaign):
    """Clients that end their half."""
    def attempt(name, check, *args):
        # Where the server has hung once, it is not waited for as long again.
        patience = 0.5 if campaign.has_found() else 5
        campaign.attempt(name, lambda: check(server, *args, patience))

    for name, data, expected in CASES:
        attempt(name, check_case, data, expected)
        if len(expected) == 1 and 400 not in expected[0]:
            attempt(f"{name}, after its answer", check_late, data)
    campaign.attempt("behind a turn of a session", lambda: check_turn(server))
    campaign.attempt("behind POST /runs", lambda: check_new_run(server))
    campaign.attempt("behind POST /inputs", lambda: check_inputs(server))
    for is_busy in (False, True):
        campaign.attempt(f"in an event stream, turn: {is_busy}",
                         lambda x=is_busy: check_stream(server, x))
    campaign.attempt("behind a handshake", lambda: check_handshake(server))
    for name, *rest in SOCKETS:
        campaign.attempt(f"WebSocket {name}",
                         lambda x=rest: check_socket(server, *x))
    for is_kept in (False, True):
        campaign.attempt(f"WebSocket of a run, kept: {is_kept}",
                         lambda x=is_kept: check_talk(server, x))
