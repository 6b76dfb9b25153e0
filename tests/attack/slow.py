# SPDX-License-Identifier: BSD-3-Clause

"""Clients that are slow, that do not read, or that reset their connections.

Without `--long` they are given up after a while. With it the time limits of the
server are awaited: `request_within` and `write_within` of 30 s, `idle_within`
of 75 s.
"""

import json
import time

from floods import HALVES, is_open
from server import AGENT
from web_socket import WebSocket, message
from wire import Violation, request, said

SLOW_CLIENTS = 200

# Bytes that a slow client sends, one at a time.
SLOW_HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 400
SLOW_BODY = (f"POST /actions{AGENT} HTTP/1.1\r\nHost: localhost\r\n"
             "Content-Length: 5000\r\n\r\n".encode())

LARGE = said("I am tired of " + "x" * 400_000)


def requests(server, campaign):
    """Slowloris: heads and bodies byte by byte, of many clients."""
    clients = [server.connect() for _ in range(campaign.share(SLOW_CLIENTS))]
    for i, at in enumerate(clients):
        if i % 2:
            at.send(SLOW_BODY)
    for step in range(20):
        for i, at in enumerate(clients):
            at.send(b" " if i % 2 else SLOW_HEAD[step:step + 1])
        if step % 10 == 0:
            campaign.attempt("service beside slow clients",
                             server.check_service)
    for i, at in enumerate(clients):
        if i % 3:
            at.reset()
        else:
            at.close()
    campaign.attempts += len(clients)


# -- readers -------------------------------------------------------------------

def feed(server, run, count=4):
    """Sends large inputs to a run, whose answers repeat them."""
    with server.connect() as at:
        for _ in range(count):
            at.send(request("POST", f"/inputs{AGENT}?run={run}",
                            {"inputs": [LARGE]}))
            if (answer := at.read_answer()).status != 202:
                raise Violation(f"an input is answered with {answer.status}: "
                                f"{answer.body[:200]!r}")


def end_run(server, run):
    with server.connect() as at:
        at.send(request("DELETE", f"/runs{AGENT}?run={run}"))
        at.read_answer()


def open_run(server):
    with server.connect() as at:
        at.send(request("POST", "/runs" + AGENT, {"grace": "PT2M"}))
        answer = at.read_answer()
        if answer.status != 201:
            raise Violation(f"a run is answered with {answer.status}")
        return answer.json()["run"]


def unread_streams(server, run, count):
    """Returns connections with an event stream of a run, whose clients read
    nothing behind its head."""
    result = []
    for _ in range(count):
        at = server.connect(receive_buffer=4_096)
        at.send(request("GET", f"/events{AGENT}?run={run}&after=0"))
        status, _ = at.read_head()
        if status != 200:
            raise Violation(f"an event stream is answered with {status}")
        result.append(at)
    return result


def unread_sockets(server, run, count):
    """Returns WebSockets of listeners that read nothing."""
    result = []
    for _ in range(count):
        at = WebSocket(server.connect(receive_buffer=4_096))
        at.send(message(json.dumps(
            {"open": {"run": run, "role": "listener", "after": 0}})))
        result.append(at.wire)
    return result


def read_nothing(server):
    """Listeners that read nothing hold neither the run nor others."""
    run = open_run(server)
    idle = unread_streams(server, run, 5) + unread_sockets(server, run, 5)
    try:
        feed(server, run)
        server.check_service()
    finally:
        for i, at in enumerate(idle):
            if i % 2:
                at.reset()
            else:
                at.close()
        end_run(server, run)


def readers(server, campaign):
    campaign.attempt("readers that do not read", lambda: read_nothing(server))


# -- resets --------------------------------------------------------------------

TURN = request("POST", "/actions" + AGENT, {"inputs": [said("Hello")]})
COMPLETE = [request("GET", "/healthz"), TURN,
            request("GET", f"/events{AGENT}?run=none"),
            request("POST", f"/inputs{AGENT}?run=none", {"inputs": [1]}),
            request("GET", f"/runs{AGENT}?run=none"),
            request("POST", "/actions" + AGENT, {"inputs": [1]}),
            request("POST", "/genkit" + AGENT, {"data": 1})]


def resets(server, campaign):
    """Connections that are reset: before, in and after a request, in an event
    stream and in a WebSocket."""
    for _ in range(campaign.scale(10)):
        for data in (b"", *HALVES, *COMPLETE, TURN * 20):
            at = server.connect()
            at.send(data)
            at.reset()
            campaign.attempts += 1
    run = open_run(server)
    for at in unread_streams(server, run, 10) + unread_sockets(server, run, 10):
        at.reset()
        campaign.attempts += 1
    end_run(server, run)


# -- time limits ---------------------------------------------------------------

def drip(clients, within):
    """Lets clients send a byte each second until the server has ended all of
    their connections. Returns when each has ended, in seconds."""
    began = time.monotonic()
    ends = []
    while clients and time.monotonic() < began + within:
        ended = [x for x in clients if not is_open(x[0])
                 or not x[0].send(x[1])]
        for x in ended:
            ends.append(time.monotonic() - began)
            clients.remove(x)
        time.sleep(1)  # it is the pace of the attack
    return ends


def time_limits(server, campaign):
    """Slow clients, until the server ends their connections. The ends are
    counted in the server: a client that does not read does not see its own."""
    before = server.count_sockets()
    run = open_run(server)
    slow = []
    for i in range(100):
        at = server.connect()
        at.send((SLOW_HEAD, SLOW_BODY)[i % 2])
        slow.append((at, b"x" if i % 2 else b""))
    idle = [server.connect() for _ in range(100)]
    streams = unread_streams(server, run, 3)
    sockets = unread_sockets(server, run, 3)
    campaign.attempts += 206
    feed(server, run, 30)  # more than the sockets have room for
    open_now = [100 + 3 + 3]

    def check_slow():
        ends = drip(slow, 45)
        if slow:
            raise Violation(f"{len(slow)} slow requests live after 45 s")
        if min(ends) < 25:
            raise Violation(f"a slow request has ended after {min(ends):.0f} s")

    def check_ended(what, count, within):
        open_now[0] -= count
        began = time.monotonic()
        most = before + open_now[0]
        server.wait_until(lambda: server.count_sockets() <= most, lambda:
                          f"{server.count_sockets() - most} of {count} {what} "
                          f"live after {within} s more", within)
        took = time.monotonic() - began
        print(f"  {what} have ended after {took:.0f} s more", flush=True)

    campaign.attempt("limit of slow requests", check_slow)
    campaign.attempt("service beside them", server.check_service)
    campaign.attempt("limit of event streams", lambda: check_ended(
        "event streams that are not read", 3, 30))
    campaign.attempt("limit of idle connections", lambda: check_ended(
        "idle connections", 100, 60))
    campaign.attempt("limit of WebSockets", lambda: check_ended(
        "WebSockets that are not read", 3, 120))
    for at in idle + streams + sockets:
        at.close()
    end_run(server, run)
