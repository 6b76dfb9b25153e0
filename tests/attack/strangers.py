# SPDX-License-Identifier: BSD-3-Clause

"""What a stranger hears of a server with tokens: each route of /openapi.json,
the WebSocket and unknown paths, without credentials, with wrong ones, and with
those of another caller."""

import json
import os
import pathlib
import re

from server import AGENT, Server
from web_socket import WebSocket, message, upgrade
from wire import Violation, request, said

ANN = "ann-0123456789abcdef"
BOB = "bob-0123456789abcdef"

# Said in the conversation of ann; nobody else may hear it.
SECRET = "the-cat-is-called-Zarzuela"

# Routes without a token: docs/server.md says what they tell.
FOR_EVERYONE = {"/openapi.json", "/healthz", "/readyz"}

# Actions of the program that are not exposed: of its store, a model and a tool.
HIDDEN = [("/snapshot-store/{}/getSnapshot", "chat"),
          ("/snapshot-store/{}/listSnapshots", "chat"),
          ("/snapshot-store/{}/restoreSnapshot", "chat"),
          ("/model/{}", "eliza"), ("/tool/{}", "dice")]

WRONG = [
    None, "", "Bearer", "Bearer ", "Bearer x", "Bearer " + ANN[:-1],
    "Bearer " + ANN + "x", "Bearer " + ANN.upper(), "Bearer  " + ANN,
    "Bearer\t" + ANN, "Bearer " + ANN + ", Bearer " + BOB, "Basic " + ANN,
    "Token " + ANN, ANN, "Bearer ann", "Bearer ann " + ANN, "Bearer \xff",
    "Bearer " + "x" * 8_000, "Bearer =", "Bearer null", "Bearer undefined",
    "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.",
]

WRONG_PROTOCOLS = ["tertulia.1", "tertulia.1, bearer.", "bearer.x",
                   "tertulia.1, bearer." + ANN[:-1], "bearer",
                   "tertulia.1, bearer." + ANN + "x"]


def bearer(token):
    return [("Authorization", "Bearer " + token)]


def start(program, folder, *options):
    """Starts a server with two callers."""
    tokens = pathlib.Path(folder) / "tokens"
    with open(os.open(tokens, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(f"ann {ANN}\nbob {BOB}\n")
    server = Server(program, folder, "--tokens", str(tokens), *options)
    server.fields = bearer(ANN)
    return server


def call(server, method, target, body=None, fields=()):
    with server.connect() as at:
        at.send(request(method, target, body, fields))
        answer = at.read_answer(method)
        if method != "HEAD":
            answer.check_error()
        return answer


def routes(server):
    """Returns method and path of all that the server says it has, once for an
    action that exists and once for another."""
    paths = call(server, "GET", "/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for action in (AGENT, "/zz/none") if "{" in path else (None,):
            place = path if action is None else \
                path.replace("/{kind}/{name}", action)
            for method in methods:
                yield method.upper(), place, path


def check_refusal(answer, what):
    if answer.status != 401:
        raise Violation(f"{what} is answered with {answer.status}: "
                        f"{answer.body[:200]!r}")
    if answer.fields.get(b"www-authenticate", b"")[:6] != b"Bearer":
        raise Violation(f"{what}: 401 without WWW-Authenticate")


def check_route(server, method, target, path):
    """Checks what a route tells without a good token: nothing, and the same
    whether the action exists."""
    for authorization in WRONG:
        fields = [] if authorization is None else \
            [("Authorization", authorization)]
        answer = call(server, method, target, fields=fields)
        what = f"{method} {target} with {str(authorization)[:60]!r}"
        if path in FOR_EVERYONE:
            if answer.status != 200:
                raise Violation(f"{what} is answered with {answer.status}")
            continue
        check_refusal(answer, what)
        if answer.json() != {"status": "UNAUTHENTICATED",
                             "message": "a bearer token is needed"}:
            raise Violation(f"{what} tells {answer.body[:200]!r}")
        if method == "GET":
            head = call(server, "HEAD", target, fields=fields)
            if head.status != 401:
                raise Violation(f"HEAD {target} is answered with {head.status}")


def check_socket(server, action, changes):
    with server.connect() as at:
        at.send(upgrade(target="/talk" + action, **changes))
        check_refusal(at.read_answer(), f"a WebSocket with {changes}")


def check_unknown(server):
    """Unknown paths and methods are the same for everyone."""
    for method, target in [("GET", "/"), ("GET", "/admin"), ("POST", "/talk"),
                           ("GET", "/reflection"), ("GET", "/api/actions"),
                           ("GET", "/.env"), ("GET", "/actions/"),
                           ("TRACE", "/actions"), ("PUT", "/actions" + AGENT)]:
        a = call(server, method, target)
        b = call(server, method, target, fields=bearer(BOB))
        if a.status not in (404, 405) or a.status != b.status:
            raise Violation(f"{method} {target}: {a.status} for a stranger, "
                            f"{b.status} for a caller")
        if AGENT.encode() in a.body:
            raise Violation(f"{method} {target} tells {a.body[:200]!r}")
    # A preflight has no token; it may tell the routes, and no actions.
    for part in ("actions", "runs", "talk", "sessions"):
        a, b = (call(server, "OPTIONS", f"/{part}{x}")
                for x in (AGENT, "/zz/none"))
        if (a.status, a.fields) != (b.status, b.fields):
            raise Violation(f"OPTIONS /{part} tells which actions exist")


def check_hidden(server, key, name, path, method, snapshot):
    """An action that is not exposed is for a caller one that does not exist,
    whatever the call says."""
    data = {"sessionId": "errands", "snapshotId": snapshot, "sides": 6}
    bodies = [None, {}, {"inputs": [data], "close": True}, {"init": data},
              {"data": data}] if method in ("POST", "PATCH") else [None]
    for body in bodies:
        answers = []
        for x in (name, "none"):
            target = path.replace("/{kind}/{name}", key.format(x))
            answer = call(server, method, f"{target}?session=errands&run=x"
                          "&snapshot=1&before=1&after=1", body, bearer(ANN))
            answers.append((answer.status, answer.body.replace(
                f"/{x}".encode(), b"/NAME")))
        if answers[0] != answers[1] or answers[0][0] not in (400, 404):
            raise Violation(f"{method} {path} of {name} with {body}: "
                            f"{answers[0]}, of one that does not exist: "
                            f"{answers[1]}")


def check_hidden_talk(server, action):
    with server.connect() as at:
        at.send(upgrade(target="/talk" + action,
                        Sec_WebSocket_Protocol="tertulia.1, bearer." + ANN))
        if (status := at.read_answer().status) != 404:
            raise Violation(f"a WebSocket of {action} is answered with "
                            f"{status}")


def check_own_sessions(server):
    """Nobody looks into a store that is not exposed, not even into sessions of
    one's own."""
    for path in ("/sessions", "/snapshots", "/diffs", "/exports"):
        answer = call(server, "GET", f"{path}{AGENT}?session=errands"
                      "&before=1&after=1", None, bearer(ANN))
        if answer.status != 404 or SECRET.encode() in answer.body:
            raise Violation(f"GET {path} is answered with {answer.status}: "
                            f"{answer.body[:200]!r}")
    listed = call(server, "GET", "/actions", None, bearer(ANN)).json()
    if [x["key"] for x in listed["actions"]] != [AGENT]:
        raise Violation(f"the actions are {listed}")


def open_conversation(server):
    """Lets ann say something secret in a run that is kept. Returns the run."""
    answer = call(server, "POST", "/runs" + AGENT,
                  {"session": "errands", "grace": "PT1M",
                   "inputs": [said(SECRET)]}, bearer(ANN))
    if answer.status != 201:
        raise Violation(f"ann's run is answered with {answer.status}")
    return answer.json()["run"]


def calls_of_another(run, snapshot):
    """Yields what bob tries with the names of ann's conversation, and the
    statuses of which one must come."""
    names = [f"run={run}", "session=ann/errands", "session=bob/../ann/errands",
             "session=../ann/errands", "session=/ann/errands",
             "session=ann%2ferrands", f"run={run}&session=ann/errands"]
    gone = (400, 404)
    for name in names:
        yield "GET", f"/runs{AGENT}?{name}", None, gone
        yield "GET", f"/events{AGENT}?{name}&after=0", None, gone
        yield "POST", f"/inputs{AGENT}?{name}", {"inputs": [said("x")]}, gone
        yield "POST", f"/inputs{AGENT}?{name}", {"cancel": True}, gone
        yield "POST", f"/inputs{AGENT}?{name}", {"confirm": True}, gone
        yield "DELETE", f"/runs{AGENT}?{name}", None, gone
        for verb in ("sessions", "snapshots", "exports"):
            yield "GET", f"/{verb}{AGENT}?{name}", None, gone
        yield "DELETE", f"/sessions{AGENT}?{name}", None, gone
        yield "PATCH", f"/sessions{AGENT}?{name}", {"title": "x"}, gone
    yield "POST", "/actions" + AGENT, {"run": run, "after": 0}, gone
    yield "POST", "/actions" + AGENT, {"run": run, "role": "listener"}, gone
    for session in ("ann/errands", "../ann/errands", "errands"):
        yield ("POST", "/actions" + AGENT, {"session": session, "attach": True},
               gone)
        yield ("POST", "/actions" + AGENT,
               {"session": session, "snapshot": snapshot}, gone)
        yield ("POST", f"/genkit{AGENT}/getSnapshot",
               {"data": {"sessionId": session}}, gone)
        # A session of bob's own, of the same name.
        yield ("POST", "/actions" + AGENT,
               {"session": session, "inputs": [said("Who am I?")],
                "live": "takeOver"}, (200,))
    for name in (snapshot, snapshot + "@ann/errands", snapshot + "@errands",
                 run, run + "@ann/errands"):
        yield ("POST", f"/genkit{AGENT}/getSnapshot",
               {"data": {"snapshotId": name}}, gone)
        # It tells no status of a turn that does not exist for bob.
        yield ("POST", f"/genkit{AGENT}/abort",
               {"data": {"snapshotId": name}}, (200, *gone))
        yield ("POST", "/genkit" + AGENT,
               {"init": {"snapshotId": name}, "data": {"message": said("x")[
                   "messages"][0]}}, (200, *gone))
    yield "GET", "/runs" + AGENT, None, (200,)
    yield "GET", f"/runs{AGENT}?after={run}", None, gone
    yield "GET", "/sessions" + AGENT, None, (200, 404)
    yield ("POST", "/sessions" + AGENT,
           {"session": "x", "from": "ann/errands"}, gone)


def check_call(server, method, target, body, expected):
    answer = call(server, method, target, body, bearer(BOB))
    what = f"{method} {target} {json.dumps(body)[:200]}"
    if SECRET.encode() in answer.body:
        raise Violation(f"{what} tells what ann has said")
    if answer.status not in expected:
        raise Violation(f"{what} is answered with {answer.status}: "
                        f"{answer.body[:200]!r}")
    if method == "GET" and b'"ann/' in answer.body:
        raise Violation(f"{what} lists what ann has: {answer.body[:200]!r}")
    if "/abort" in target and answer.status == 200 \
            and answer.json()["result"].get("status") is not None:
        raise Violation(f"{what} tells {answer.body[:200]!r}")


def check_socket_of_another(server, options):
    changes = {"Sec_WebSocket_Protocol": "tertulia.1, bearer." + BOB}
    with WebSocket(server.connect(), **changes) as at:
        at.send(message(json.dumps({"open": options})))
        heard = at.read_json()
        if heard.get("error", {}).get("status") not in ("NOT_FOUND",
                                                        "INVALID_ARGUMENT"):
            raise Violation(f"bob hears {str(heard)[:200]} for {options}")


def check_alive(server, run):
    """Ann's conversation is as before."""
    answer = call(server, "GET", f"/runs{AGENT}?run={run}", None, bearer(ANN))
    if answer.status != 200 or answer.json()["status"] != "running":
        raise Violation(f"ann's run is {answer.status} {answer.body[:200]!r}")
    answer = call(server, "POST", f"/inputs{AGENT}?run={run}", {"close": True},
                  bearer(ANN))
    if answer.status != 202:
        raise Violation(f"ann's run takes no end: {answer.body[:200]!r}")
    events = call(server, "GET", f"/events{AGENT}?run={run}&after=0",
                  fields=bearer(ANN)).body
    if SECRET.encode() not in events or b"event: output" not in events \
            or b"Who am I" in events:
        raise Violation(f"ann's conversation became {events[-400:]!r}")


LOG_LINE = re.compile(
    r"[0-9T:.+-]+ (method=[!-~]+ path=[!-~]+ )?status=[0-9]+ ms=[0-9.]+"
    r"( bytes=[0-9]+)? peer=[0-9.:a-f]+( caller=(ann|bob))?"
    r"( trace=[0-9a-f]{32})?")


def check_log(server):
    """The log has a line of ASCII for each request, without a query, a body or
    a token."""
    for target in ("/log\xc2\x9b31m", "/log\xe2\x80\xae", "/log\xff",
                   "/log?query=of-a-client", "/log%0aline", "/log%1b[31m"):
        call(server, "GET", target)
    lines = [x for x in server.log().splitlines()
             if not x.startswith("Serving ")]  # the greeting may come later
    if not any("/log" in x for x in lines):
        raise Violation("the log lacks requests")
    for line in lines:
        if not LOG_LINE.fullmatch(line):
            raise Violation(f"a line of the log is {line[:200]!r}")
        for secret in (ANN, BOB, SECRET, "?", "of-a-client"):
            if secret in line:
                raise Violation(f"the log tells {secret}: {line[:200]!r}")


def take_snapshot(server):
    """Returns a snapshot of a conversation that ann has ended."""
    answer = call(server, "POST", "/actions" + AGENT,
                  {"session": "errands", "inputs": [said(SECRET)]}, bearer(ANN))
    if answer.status != 200:
        raise Violation(f"ann's turn is answered with {answer.status}")
    return answer.json()["output"]["snapshotId"]


def strangers(server, campaign):
    """Strangers and other callers."""
    for method, target, path in list(routes(server)):
        campaign.attempt(f"stranger {method} {target}", lambda x=(
            method, target, path): check_route(server, *x))
    for action in (AGENT, "/zz/none"):
        for x in WRONG_PROTOCOLS:
            campaign.attempt(f"stranger's WebSocket {x}", lambda x=x, y=action:
                             check_socket(server, y,
                                          {"Sec_WebSocket_Protocol": x}))
        for x in WRONG[1:]:
            campaign.attempt(f"stranger's WebSocket {x[:60]}",
                             lambda x=x, y=action:
                             check_socket(server, y, {"Authorization": x}))
    campaign.attempt("unknown paths", lambda: check_unknown(server))
    snapshot = take_snapshot(server)
    paths = call(server, "GET", "/openapi.json").json()["paths"]
    for key, name in HIDDEN:
        action = key.format(name)
        for path, methods in paths.items():
            for method in map(str.upper, methods if "{" in path else ()):
                campaign.attempt(f"{method} {path} of {action}", lambda x=(
                    key, name, path, method): check_hidden(
                        server, *x, snapshot))
        campaign.attempt(f"WebSocket of {action}", lambda x=action:
                         check_hidden_talk(server, x))
    campaign.attempt("sessions", lambda: check_own_sessions(server))
    run = open_conversation(server)
    for x in calls_of_another(run, snapshot):
        campaign.attempt(f"bob {x[0]} {x[1].replace(run, 'RUN')}", lambda x=x:
                         check_call(server, *x))
    for options in ({"run": run}, {"run": run, "after": 0, "role": "listener"},
                    {"session": "ann/errands", "attach": True},
                    {"session": "../ann/errands", "attach": True},
                    {"session": "errands", "snapshot": snapshot}):
        campaign.attempt(f"bob's WebSocket {list(options)}", lambda x=options:
                         check_socket_of_another(server, x))
    campaign.attempt("ann's conversation", lambda: check_alive(server, run))
    campaign.attempt("log", lambda: check_log(server))
