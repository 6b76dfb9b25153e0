# SPDX-License-Identifier: BSD-3-Clause

"""Single requests whose answer is certain: of each route without what it needs,
and a few that once were answered otherwise."""

from server import AGENT
from slow import end_run, open_run
from wire import Violation, request, said

GONE = (400, 404)

# Method, target, body, statuses of which one must come.
TABLE = [
    # Keys with one part, with an unknown action, and with too many parts.
    *((method, f"/{route}{key}?session=s&run=r&before=1&after=1", body, GONE)
      for key in ("/x", "/zz/none", "/a/b/c/d", "/session-flow/chat/x", "/%00")
      for method, route, body in (
          ("GET", "actions", None), ("POST", "actions", {}),
          ("GET", "runs", None), ("POST", "runs", {}),
          ("DELETE", "runs", None), ("GET", "events", None),
          ("POST", "inputs", {"inputs": []}), ("GET", "sessions", None),
          ("POST", "sessions", {"session": "a", "from": "b"}),
          ("PATCH", "sessions", {}), ("DELETE", "sessions", None),
          ("GET", "snapshots", None), ("PATCH", "snapshots", {}),
          ("GET", "diffs", None), ("GET", "exports", None),
          ("POST", "genkit", {}),
          ("GET", "talk", None))),
    # Limits of members, with and without inputs beside them.
    *(("POST", "/actions" + AGENT, {name: (1 << 32) - 1, **more}, (400,))
      for name in ("inputWindow", "chunkWindow")
      for more in ({}, {"inputs": [said("Hi")]})),
    ("POST", "/actions" + AGENT, {"inputs": [1] * 70_000}, (400,)),
    ("POST", "/actions" + AGENT, {"turn": "x" * 300}, (400,)),
    ("POST", "/actions" + AGENT, {"session": "a\0b"}, (400,)),
    ("POST", "/actions" + AGENT, {"deadline": "-PT1S"}, (400,)),
    ("POST", "/runs" + AGENT, {"grace": "PT-1S"}, (400,)),
    ("POST", "/runs" + AGENT, {"grace": "P9999999999999D"}, (400,)),
]


def check(server, method, target, body, expected):
    with server.connect(timeout=5) as at:
        at.send(request(method, target, body))
        answer = at.read_answer(method)
        if answer.status not in expected:
            raise Violation(f"answered with {answer.status}, not {expected}: "
                            f"{answer.body[:200]!r}")
        answer.check_error()


def check_heads(server, run):
    """An answer to HEAD ends with its head, also where GET streams."""
    with server.connect(timeout=5) as at:
        for target in ("/actions" + AGENT, "/openapi.json", "/none",
                       f"/events{AGENT}?run={run}"):
            at.send(request("HEAD", target))
            at.read_answer("HEAD")
            at.send(request("GET", "/healthz"))
            try:
                answer = at.read_answer()
            except Violation as x:
                raise Violation(f"behind HEAD {target.split('?')[0]}: {x}") \
                    from None
            if answer.status != 200:
                raise Violation(f"behind HEAD {target}: {answer.status}")


def answers(server, campaign):
    """Requests with one right answer."""
    for x in TABLE:
        name = f"{x[0]} {x[1].split('?')[0]} {str(x[2])[:60]}"
        campaign.attempt(name, lambda x=x: check(server, *x))
    run = open_run(server)
    campaign.attempt("HEAD", lambda: check_heads(server, run))
    end_run(server, run)
