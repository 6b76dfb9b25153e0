# SPDX-License-Identifier: BSD-3-Clause

"""Idle WebSockets and event streams, with `--long` only: `idle_within` of 75 s,
in each half of which a WebSocket is asked with a ping.

A peer that does not answer has gone: its connection ends, and so does its run.
One that answers pings, or sends some, stays for ever. Every wait is for a frame
or for the end, and has a time until which it must come.
"""

import concurrent.futures
import json
import select
import time

from half_closed import call, check_session_free, expect
from server import AGENT
from slow import end_run
from web_socket import PING, PONG, TEXT, WebSocket, frame, message
from wire import Violation, request, said

IDLE = 75.0
MARGIN = 12.0  # of a machine that has much to do

# Further pings that are answered: the last one comes after 112 s.
PINGS = 3

# An event stream shows after each of these times that it is alive.
HEARTBEAT = 15.0


def check_time(began, expected, what):
    took = time.monotonic() - began
    if not expected - 1 < took < expected + MARGIN:
        raise Violation(f"{what} comes after {took:.1f} s, not after "
                        f"{expected:.1f} s")


def connect(server):
    # No wait is for longer than half of the limit.
    return server.connect(timeout=IDLE / 2 + MARGIN)


def expect_ping(at):
    """Returns the payload of a ping, which comes next."""
    found = at.read()
    if found is None or found[0] != PING:
        raise Violation(f"{found} comes in place of a ping")
    return found[1]


def check_dead(server, prepare):
    """A peer that answers no ping is asked once, and ended.

    @param prepare does what the client does before it is dead.
    """
    with WebSocket(connect(server)) as at:
        prepare(at)
        began = time.monotonic()
        expect_ping(at)
        check_time(began, IDLE / 2, "a ping")
        if rest := at.read_to_end():
            raise Violation(f"a ping is followed by {rest}")
        check_time(began, IDLE, "the end")
        if at.close_code is not None:
            raise Violation(f"closed with {at.close_code}")
    if prepare is open_session:
        check_session_free(server, "dead peer")


def check_alive(server, prepare, answer):
    """A peer that does nothing but answer pings is served afterwards.

    @param answer returns the bytes that follow a ping.
    """
    with WebSocket(connect(server)) as at:
        prepare(at)
        for i in range(PINGS):
            began = time.monotonic()
            payload = expect_ping(at)
            check_time(began, IDLE / 2, f"ping {i}")
            at.send(answer(payload))
        if prepare is not open_talk:
            at.open(keep=False)
        at.send(message(json.dumps({"input": said("Hello")})))
        while "turnEnd" not in at.read_json():
            pass


def check_asking(server):
    """A peer that sends pings itself is not idle, and need not answer any."""
    with WebSocket(connect(server)) as at:
        ends = time.monotonic() + IDLE + MARGIN
        count = 0
        while time.monotonic() < ends:
            count += 1
            at.send(frame(PING, b"%d" % count))
            while (found := at.read()) != (PONG, b"%d" % count):
                if found is None or found[0] != PING:
                    raise Violation(f"{found} comes in place of a pong")
            # Until the server asks, or it is time for the next one.
            select.select([at.wire.socket], [], [], IDLE / 4)
        at.open(keep=False)


def check_stream(server, run):
    """An event stream without events shows that it is alive, for longer than
    any connection may be idle."""
    with connect(server) as at:
        at.send(request("GET", f"/events{AGENT}?run={run}"))
        if (status := at.read_head()[0]) != 200:
            raise Violation(f"an event stream is answered with {status}")
        began, count = time.monotonic(), -1  # the first chunk is `opened`
        while time.monotonic() < began + IDLE + MARGIN:
            part = at.read_exactly(int(at.read_line(), 16) + 2)
            count += 1
            if count > 0:
                if part != b":\n\n\r\n":
                    raise Violation(f"a heartbeat is {part[:200]!r}")
                check_time(began, count * HEARTBEAT, f"heartbeat {count}")
        expect(call(server, "POST", f"/inputs{AGENT}?run={run}",
                    {"inputs": [said("Hello")]}), 202)
        if b"event: chunks" not in at.read_exactly(
                int(at.read_line(), 16) + 2):
            raise Violation("an event does not follow the heartbeats")


# -- what clients do before they are idle --------------------------------------

def nothing(_):
    pass


def open_session(at):
    at.open(keep=False, session="dead peer")


def open_talk(at):
    at.open(keep=False)


def begin_frame(at):
    at.send(message('{"open":{}}')[:5])


def begin_message(at):
    at.send(frame(TEXT, b'{"open"', fin=False))


def send_pong(at):
    at.send(frame(PONG, b"of nothing"))


def idle(server, campaign):
    """Idle WebSockets and event streams, all at the same time."""
    runs = [expect(call(server, "POST", "/runs" + AGENT, {"grace": "PT10M"}),
                   201).json()["run"] for _ in range(2)]

    def listen(at):
        at.open(run=runs[0], role="listener")

    attempts = [("event stream", check_stream, runs[1]),
                ("WebSocket that asks", check_asking)]
    for prepare in (nothing, open_session, begin_frame, begin_message,
                    send_pong, listen):
        attempts.append((f"dead WebSocket, {prepare.__name__}", check_dead,
                         prepare))
    for prepare in (nothing, open_talk):
        for how, answer in (("pongs", lambda x: frame(PONG, x)),
                            ("other pongs",
                             lambda x: frame(PONG, x + b"x"))):
            attempts.append((f"WebSocket that sends {how}, "
                             f"{prepare.__name__}", check_alive, prepare,
                             answer))
    with concurrent.futures.ThreadPoolExecutor(len(attempts)) as clients:
        began = [(name, clients.submit(check, server, *args))
                 for name, check, *args in attempts]
        for name, result in began:
            campaign.attempt(name, result.result)
    for run in runs:
        end_run(server, run)
