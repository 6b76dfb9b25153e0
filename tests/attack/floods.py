# SPDX-License-Identifier: BSD-3-Clause

"""Floods: many connections, many requests, many runs, many inputs."""

import json
import socket

from server import AGENT
from web_socket import WebSocket, message
from wire import Violation, request, said

# Connections that a test holds at once, below the usual limit of descriptors.
MOST_HELD = 400

POST = f"POST /actions{AGENT} HTTP/1.1\r\nHost: localhost\r\n".encode()
HALVES = [b"G", b"GET /", b"GET /healthz HTTP/1.1\r\n",
          b"GET /healthz HTTP/1.1\r\nHost: local",
          POST + b'Content-Length: 100\r\n\r\n{"inputs":[',
          POST + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"inp']


def connections(server, campaign):
    """Connections that are opened and ended without a word."""
    for i in range(campaign.scale(1_000)):
        at = server.connect()
        if i % 2:
            at.reset()
        else:
            at.close()
    campaign.attempts += campaign.scale(1_000)


def half_requests(server, campaign):
    """Many connections with half a request; others are served meanwhile."""
    for _ in range(campaign.scale(1)):
        held = [server.connect() for _ in range(campaign.share(MOST_HELD))]
        for i, at in enumerate(held):
            at.send(HALVES[i % len(HALVES)])
        campaign.attempt("service beside half requests", server.check_service)
        for i, at in enumerate(held):
            if i % 2:
                at.reset()
            else:
                at.close()
        campaign.attempts += len(held)


def send_until_full(at, data, most):
    """Sends requests without reading answers until the server reads no more, or
    all are sent. Returns how many bytes were sent."""
    at.socket.settimeout(0.5)
    sent = 0
    try:
        while sent < most:
            sent += at.send_some(data[sent % len(data):])
    except TimeoutError:
        pass
    finally:
        at.socket.settimeout(20)
    return sent


def pipeline_and_read(server, count):
    """Sends many requests at once, and reads all answers: as many, in order."""
    with server.connect() as at:
        block = b"".join(request("GET", f"/actions/attack/{i}")
                         for i in range(count))
        at.send(block)
        for i in range(count):
            answer = at.read_answer()
            if answer.status != 404 or b"/attack/%d\"" % i not in answer.body:
                raise Violation(f"answer {i} is {answer.status} "
                                f"{answer.body[:200]!r}")


def pipeline_unread(server):
    """Sends large requests with large answers, and reads none. The server must
    stop reading, and not gather answers."""
    text = "I am tired of " + "x" * 200_000
    data = request("POST", "/actions" + AGENT, {"inputs": [said(text)]})
    before = server.resident()
    most = 200 * len(data)
    with server.connect(receive_buffer=4_096) as at:
        sent = send_until_full(at, data, most)
        if sent >= most:
            raise Violation(f"the server has read {sent >> 20} MiB of requests "
                            "whose answers nobody reads")
        server.check_service()
        growth = (server.resident() - before) >> 10
        if growth > 32 and not server.is_sanitized:
            raise Violation(f"answers that are not read take {growth} MiB")
        at.reset()


def pipelines(server, campaign):
    # As many as the sockets have room for while nobody reads the answers.
    for _ in range(campaign.scale(1)):
        campaign.attempt("pipeline of small requests", lambda:
                         pipeline_and_read(server, 2_000))
    campaign.attempt("pipeline that is not read", lambda:
                     pipeline_unread(server))


def open_and_abort_runs(server, count):
    """Opens many kept runs, and aborts them."""
    with server.connect() as at:
        body = {"grace": "PT1M"}
        at.send(request("POST", "/runs" + AGENT, body) * count)
        names = []
        for _ in range(count):
            answer = at.read_answer()
            # A server may limit the runs of one client.
            if answer.status not in (201, 429):
                raise Violation(f"a run is answered with {answer.status}: "
                                f"{answer.body[:200]!r}")
            answer.check_error()
            if answer.status == 201:
                names.append(answer.json()["run"])
        server.check_service()
        at.send(b"".join(request("DELETE", f"/runs{AGENT}?run={x}")
                         for x in names))
        for x in names:
            if (answer := at.read_answer()).status != 200:
                raise Violation(f"the end of a run is answered with "
                                f"{answer.status}: {answer.body[:200]!r}")


def runs(server, campaign):
    """Many open runs of one client."""
    campaign.attempt("runs", lambda:
                     open_and_abort_runs(server, campaign.scale(300)))


def check_inputs(server, count):
    """Sends inputs far beyond the credit of a run."""
    data = message(json.dumps({"input": said("x" * 20_000)}))
    before = server.resident()
    with WebSocket(server.connect(receive_buffer=4_096)) as at:
        at.open(keep=False)
        sent = send_until_full(at.wire, data, count * len(data))
        growth = (server.resident() - before) >> 10
        server.check_service()
        at.wire.reset()
    if growth > 64 and not server.is_sanitized:
        raise Violation(f"{sent >> 20} MiB of inputs take {growth} MiB")


def inputs(server, campaign):
    """Inputs of a WebSocket that reads nothing."""
    campaign.attempt("inputs beyond the credit", lambda:
                     check_inputs(server, campaign.scale(400)))


def is_open(at):
    """Returns whether a connection has not been ended by the server."""
    try:
        return at.socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
