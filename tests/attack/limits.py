# SPDX-License-Identifier: BSD-3-Clause

"""Limits of docs/server.md that are reached by good requests: windows, grace,
lists, refusals that are not read, descriptors, and a server that stops. Those
of size are in oversized.py, those of time in slow.py and idle.py.
"""

import json
import resource
import signal

from half_closed import call, expect
from server import AGENT
from web_socket import TEXT, WebSocket, close_frame, message
from wire import Violation, request, said

MOST_WINDOW = 65_536
MOST_LISTED = 1_000


def check_retry(answer, status):
    """Checks an answer after which a client comes back."""
    if answer.status != status:
        raise Violation(f"answered with {answer.status}, not {status}: "
                        f"{answer.body[:200]!r}")
    answer.check_error()
    if answer.fields.get(b"retry-after") != b"1":
        raise Violation(f"{status} without Retry-After")


# -- members -------------------------------------------------------------------

WINDOWS = [(name, size, size <= MOST_WINDOW)
           for name in ("inputWindow", "chunkWindow")
           for size in (1, MOST_WINDOW, MOST_WINDOW + 1)]
GRACES = [("PT0.1S", True), ("PT24H", True), ("P1D", True), ("PT0S", False),
          ("PT24H0.001S", False), ("P2D", False)]


def check_member(server, name, value, is_good):
    """Checks a member of all that open a run."""
    body = {name: value, "inputs": [said("Hello")]}
    if name != "grace":
        expect(call(server, "POST", "/actions" + AGENT, body),
               200 if is_good else 400)
    answer = expect(call(server, "POST", "/runs" + AGENT, body),
                    201 if is_good else 400)
    if is_good:
        run = answer.json()["run"]
        expect(call(server, "DELETE", f"/runs{AGENT}?run={run}"), 200)
    with WebSocket(server.connect(timeout=5)) as at:
        at.send(message(json.dumps({"open": {**body, "close": True}})))
        heard = at.read_json()
        if is_good and "opened" not in heard:
            raise Violation(f"a run is not opened: {heard}")
        if not is_good and heard.get("error", {}).get("status") \
                != "INVALID_ARGUMENT":
            raise Violation(f"the error is {heard}")


def check_inputs(server):
    """One input more than fits into the largest window is refused as such."""
    for count, is_known in ((MOST_WINDOW, False), (MOST_WINDOW + 1, True)):
        answer = expect(call(server, "POST", "/actions" + AGENT,
                             {"inputs": [1] * count}), 400)
        if (str(MOST_WINDOW).encode() in answer.body) != is_known:
            raise Violation(f"{count} inputs: {answer.body[:200]!r}")


# -- lists ---------------------------------------------------------------------

def fill_store(server, is_long):
    """Makes more sessions than a list has.

    @param is_long whether one of them also has more snapshots.
    """
    turn = {"session": "many", "inputs": [said("Hello")]}
    answer = expect(call(server, "POST", "/actions" + AGENT, turn), 200)
    # All from the first snapshot: a state that grows takes more time.
    turn["snapshot"] = answer.json()["output"]["snapshotId"]
    copies = (("/sessions", {"session": f"copy {i}", "from": "many"}, 201)
              for i in range(MOST_LISTED))
    turns = (("/actions", turn, 200) for _ in range(MOST_LISTED))
    with server.connect() as at:
        for path, body, status in (*copies, *(turns if is_long else ())):
            at.send(request("POST", path + AGENT, body))
            expect(at.read_answer(), status)


def check_list(server, verb, query):
    # 0 is less than a list may have.
    for limit, size in ((0, 1), (1, 1), (999, 999), (1_000, MOST_LISTED),
                        (1_001, MOST_LISTED), (2**64 - 1, MOST_LISTED)):
        answer = expect(call(server, "GET",
                             f"/{verb}{AGENT}?limit={limit}{query}"), 200)
        listed = answer.json()
        if len(listed[verb]) != size or listed["more"] is not True:
            raise Violation(f"limit={limit} lists {len(listed[verb])}, not "
                            f"{size}, and more: {listed['more']}")
    for limit in (2**64, -1, "x", "1.5"):
        expect(call(server, "GET", f"/{verb}{AGENT}?limit={limit}{query}"), 400)


# -- refusals ------------------------------------------------------------------

def check_refusals(server):
    """A client that does not read its refusals loses its run: 256 KiB beyond
    what its sockets hold."""
    data = message(json.dumps({"input": {"y" * 80: 1}})) * 500
    # A sanitized server needs long to read and refuse all of that.
    with WebSocket(server.connect(receive_buffer=4_096, timeout=30)) as at:
        run = at.open(grace="PT0.1S")["run"]
        target = f"/runs{AGENT}?run={run}"
        for _ in range(1_000):  # 80 MiB of inputs
            seen = call(server, "GET", target, patience=30).json()
            if seen["status"] != "running":
                break
            at.send(data)
        else:
            raise Violation("refusals that nobody reads have no limit")
        last = b""
        while at.close_code is None:
            if (found := at.read()) is None:
                raise Violation("the WebSocket ends without a close frame")
            if found[0] == TEXT:
                last = found[1]
        error = json.loads(last).get("error", {})
        if (error.get("status"), at.close_code) != ("RESOURCE_EXHAUSTED", 4000):
            raise Violation(f"the last message is {last[:200]!r}, the code "
                            f"{at.close_code}")
        at.send(close_frame(4000))
        if at.read() is not None:
            raise Violation("a frame follows the closing")


# -- connections ---------------------------------------------------------------

def check_descriptors(server):
    """A server without descriptors takes further connections later: it neither
    ends nor refuses what it cannot accept yet."""
    process = server.process.pid
    limits = resource.prlimit(process, resource.RLIMIT_NOFILE)
    most = server.descriptors() + 20
    resource.prlimit(process, resource.RLIMIT_NOFILE, (most, limits[1]))
    clients = []
    try:
        for _ in range(60):
            clients.append(server.connect())
            clients[-1].send(request("GET", "/healthz"))
        server.wait_until(lambda: server.descriptors() >= most,
                          lambda: f"{server.descriptors()} descriptors, not "
                                  f"{most}")
        for at in clients:
            # The end of each makes room for one that waits.
            expect(at.read_answer(), 200)
            at.close()
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, limits)
        for at in clients:
            at.close()


def check_callers_runs(server):
    """Runs of one caller, which all clients without a token are: 20 000."""
    runs = []
    body = {"grace": "PT10M"}
    with server.connect() as at:
        refused = None
        while refused is None:
            if len(runs) > 25_000:
                raise Violation(f"one caller has {len(runs)} runs")
            at.send(request("POST", "/runs" + AGENT, body) * 100)
            for _ in range(100):
                answer = at.read_answer()
                if answer.status == 201:
                    runs.append(answer.json()["run"])
                else:
                    refused = answer
        print(f"  {len(runs)} runs of one caller", flush=True)
        check_retry(refused, 429)
        check_retry(call(server, "POST", "/actions" + AGENT,
                         {"inputs": [said("Hello")]}), 429)
        with WebSocket(server.connect()) as other:
            other.send(message('{"open":{}}'))
            heard = other.read_json()
            if heard.get("error", {}).get("status") != "RESOURCE_EXHAUSTED":
                raise Violation(f"the error is {heard}")
        for i in range(0, len(runs), 100):
            part = runs[i:i + 100]
            at.send(b"".join(
                request("DELETE", f"/runs{AGENT}?run={x}") for x in part))
            for _ in part:
                expect(at.read_answer(), 200)
        # Those that have ended count until a client says that it knows.
        for i in range(0, len(runs), 100):
            part = runs[i:i + 100]
            at.send(b"".join(
                request("POST", f"/inputs{AGENT}?run={x}", {"confirm": True})
                for x in part))
            for _ in part:
                expect(at.read_answer(), 202)
    server.wait_until(
        lambda: call(server, "POST", "/actions" + AGENT, {}).status == 200,
        lambda: "runs that have ended and were confirmed count")


def limits(server, campaign):
    """Limits that good requests reach."""
    for x in WINDOWS:
        campaign.attempt(f"{x[0]} of {x[1]}", lambda x=x:
                         check_member(server, *x))
    for grace, is_good in GRACES:
        campaign.attempt(f"grace of {grace}", lambda x=grace, y=is_good:
                         check_member(server, "grace", x, y))
    campaign.attempt("inputs of an opening", lambda: check_inputs(server))
    campaign.attempt("store", lambda: fill_store(server, campaign.is_long))
    campaign.attempt("list of sessions", lambda:
                     check_list(server, "sessions", ""))
    campaign.attempt("refusals", lambda: check_refusals(server))
    campaign.attempt("descriptors", lambda: check_descriptors(server))
    if campaign.is_long:
        campaign.attempt("list of snapshots", lambda:
                         check_list(server, "snapshots", "&session=many"))
        campaign.attempt("runs of a caller", lambda: check_callers_runs(server))


# -- the end -------------------------------------------------------------------

def check_end(server):
    """A server that is asked to stop ends idle connections, answers what it
    reads already, and is not ready."""
    with server.connect() as idle, server.connect() as busy, \
            server.connect() as talker, WebSocket(server.connect()) as talk:
        run = talk.open(grace="PT1M")["run"]
        part = [("Expect", "100-continue"), ("Content-Length", "2")]
        busy.send(request("GET", "/readyz", fields=part))
        talker.send(request("POST", f"/inputs{AGENT}?run={run}", fields=part))
        for at in (busy, talker):
            if at.read_head()[0] != 100:
                raise Violation("a body is not waited for")
        server.process.send_signal(signal.SIGTERM)
        if not idle.is_ended():
            raise Violation("an idle connection hears something")
        talk.read()
        if talk.close_code != 1001:
            raise Violation(f"a WebSocket is closed with {talk.close_code}")
        talk.send(close_frame(1001))
        for at in (busy, talker):
            at.send(b"{}")
            answer = at.read_answer()
            check_retry(answer, 503)
            if not answer.is_last or not at.is_ended():
                raise Violation("a connection is kept by a server that stops")
    server.process.wait(20)
