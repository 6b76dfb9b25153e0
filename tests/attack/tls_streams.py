# SPDX-License-Identifier: BSD-3-Clause

"""Attacks on a connection behind a good handshake of TLS: records that are
changed, repeated, left out, cut off or plain, and the ways in which it ends.

Python's `ssl` can encrypt data and its goodbye only: alerts, empty records and
messages of a handshake that are encrypted are not tried here.
"""

import random

from floods import send_until_full
from hello import (ALERT, CHANGE_CIPHER, DATA, HANDSHAKE, hello, message,
                   record)
from server import AGENT
from slow import LARGE
from tls import PATIENCE, VERSIONS, end, flip
from wire import Ended, Violation, request, said

GET = request("GET", "/healthz")
LAST = request("GET", "/healthz", fields=[("Connection", "close")])
TURN = request("POST", "/actions" + AGENT, {"inputs": [said("Hello")]})


def check_nothing(at, what):
    if not at.is_ended():
        raise Violation(f"{what} is answered")


def check_alert(at, what):
    """Waits for the end, which an alert must announce."""
    check_nothing(at, what)
    if at.alert is None:
        raise Violation(f"{what}: the end comes without an alert")


def check_answer(at):
    if (answer := at.read_answer()).status != 200:
        raise Violation(f"answered with {answer.status}")


# -- changed records -----------------------------------------------------------

def check_flipped(server, context, bit):
    """A record that is changed ends the connection."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        data = at.encrypt(GET)
        at.send_raw(flip(data, bit))
        if bit // 8 in (3, 4):  # of its length: the server waits for more
            at.cut()
            check_nothing(at, "a changed length")
            at.reset()
        else:
            check_alert(at, "a changed record")


def check_repeated(server, context):
    with server.connect(context=context, timeout=PATIENCE) as at:
        data = at.encrypt(TURN)
        at.send_raw(data)
        check_answer(at)
        at.send_raw(data)
        check_alert(at, "a repeated record")


def check_order(server, context):
    with server.connect(context=context, timeout=PATIENCE) as at:
        first, second = at.encrypt(GET), at.encrypt(GET)
        at.send_raw(second + first)
        check_alert(at, "a record out of order")


def check_left_out(server, context):
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.encrypt(GET)
        at.send_raw(at.encrypt(GET))
        check_alert(at, "a record behind one that is left out")


def check_of_another(server, context):
    """A record of one connection is not one of another."""
    with server.connect(context=context) as first, \
            server.connect(context=context, timeout=PATIENCE) as second:
        second.send_raw(first.encrypt(GET))
        check_alert(second, "a record of another connection")


def check_small(server, context):
    """Records of one byte are as good as others."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.send_raw(b"".join(at.encrypt(TURN[i:i + 1])
                             for i in range(len(TURN))))
        check_answer(at)


def plain_records():
    """Yields records that are not encrypted."""
    yield "HTTP", GET
    yield "data", record(DATA, GET)
    yield "empty data", record(DATA, b"") * 1_000
    yield "hello", hello()
    yield "HelloRequests", record(HANDSHAKE, message(0, b"")) * 1_000
    yield "update of keys", record(HANDSHAKE, message(24, b"\1")) * 1_000
    yield "warnings", record(ALERT, b"\1\x5a") * 1_000
    yield "ChangeCipherSpecs", record(CHANGE_CIPHER, b"\1") * 1_000
    yield "type 99", record(99, b"x" * 50)
    yield "record of 65 535 bytes", record(DATA, b"", length=0xffff)
    yield "record of 18 500 bytes", record(DATA, b"x" * 18_500)


def check_plain(server, context, data):
    """Plain bytes behind a handshake end the connection, whatever they are. The
    alert may be lost by a reset."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.send_raw(data)
        check_nothing(at, "a plain record")


def changed(server, campaign):
    """Records that are not those that the client has encrypted."""
    rng = random.Random(campaign.seed << 8 | campaign.round)
    for version in VERSIONS:
        context = server.certificate.context(version)

        def attempt(name, check, *more):
            campaign.attempt(f"{name}, {version.name}", lambda:
                             check(server, context, *more))

        for bit in range(5 * 8):
            attempt(f"bit {bit} of the head", check_flipped, bit)
        for _ in range(campaign.scale(160)):
            attempt("a bit of the rest", check_flipped,
                    rng.randrange(5 * 8, 8 * (5 + len(GET))))
        attempt("repeated", check_repeated)
        attempt("out of order", check_order)
        attempt("left out", check_left_out)
        attempt("of another connection", check_of_another)
        attempt("small", check_small)
        for name, data in plain_records():
            attempt(f"plain {name}", check_plain, data)


# -- ends ----------------------------------------------------------------------

def check_cut(server, context, size):
    """A record that is cut off is not answered."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.send_raw(at.encrypt(GET)[:size])
        at.cut()
        check_nothing(at, "a record that is cut off")
        at.reset()


def cut_record(at):
    at.send_raw(at.encrypt(GET)[:10])
    at.cut()
    at.read_to_end()


def cut_turn(at):
    at.send(TURN)
    at.cut()
    at.read_to_end()


def reset_unread(at):
    """Resets a connection to which the server cannot write."""
    data = request("POST", "/actions" + AGENT, {"inputs": [LARGE]})
    send_until_full(at, data, 100 * len(data))
    at.reset()


def check_prompt_end(server, context, finish):
    """A client that has ended TCP says no goodbye any more: the server does not
    wait for it."""
    def is_alone():
        return server.count_sockets() <= 1  # the one that listens

    server.wait_until(is_alone, lambda: "earlier connections stay open")
    with server.connect(context=context, timeout=PATIENCE,
                        receive_buffer=4_096) as at:
        finish(at)
    server.wait_until(is_alone, lambda:
                      "a connection stays open whose client has closed it", 1)


def check_half_request(server, context, data, finish):
    """Half a request is not a request, whatever end follows it."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.send(data)
        finish(at)
        try:
            while (answer := at.read_answer()).status >= 400:
                answer.check_error()
        except Ended:
            at.reset()
            return
    raise Violation(f"half a request is answered with {answer.status}")


def check_goodbye(server, context, data, statuses):
    """The server says goodbye behind its last answer: without it, a client
    could not know that nothing is cut off."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.send(data)
        answer = at.read_answer()
        if answer.status not in statuses:
            raise Violation(f"answered with {answer.status}")
        if not at.is_ended():
            raise Violation("bytes follow the last answer")
        if not at.has_goodbye:
            raise Violation("the connection ends without a goodbye")


def check_late(server, context, data):
    """What follows the goodbye of a client is not read."""
    with server.connect(context=context, timeout=PATIENCE) as at:
        at.say_goodbye()
        at.send_raw(data)
        check_nothing(at, "a request behind a goodbye")


def check_unread_goodbye(server, context):
    """A client that says goodbye, and does not wait for the answers."""
    for finish in (lambda at: at.reset(), lambda at: at.cut()):
        with server.connect(context=context, timeout=PATIENCE) as at:
            at.send(TURN * 20)
            at.say_goodbye()
            finish(at)


def ends(server, campaign):
    """Connections that end anywhere, by a goodbye, by TCP, or by both."""
    rng = random.Random(campaign.seed << 8 | campaign.round)
    halves = [TURN[:cut] for cut in rng.sample(range(1, len(TURN)), 4)]
    halves.append(TURN.replace(b"Content-Length: ", b"Content-Length: 9"))
    for version in VERSIONS:
        context = server.certificate.context(version)

        def attempt(name, check, *more):
            campaign.attempt(f"{name}, {version.name}", lambda:
                             check(server, context, *more))

        for size in range(0, len(GET) + 16, 1 if campaign.is_long else 3):
            attempt(f"{size} bytes of a record", check_cut, size)
        for half in halves:
            for name, finish in (("cut", lambda at: at.cut()),
                                 ("goodbye", lambda at: at.say_goodbye())):
                attempt(f"{name} behind {half[-30:]!r}", check_half_request,
                        half, finish)
            at = server.connect(context=context)
            at.send(half)
            end(at, 1)
        attempt("goodbye of the server", check_goodbye, LAST, (200,))
        attempt("goodbye behind HTTP/1.0", check_goodbye,
                request("GET", "/healthz", version="1.0"), (200,))
        if campaign.round == 0:
            attempt("goodbye behind a refusal", check_goodbye,
                    b"GET\r\n\r\n", (400,))
            for name, finish in (("in a record", cut_record),
                                 ("behind a turn", cut_turn),
                                 ("before answers", reset_unread)):
                attempt(f"no goodbye {name}", check_prompt_end, finish)
        attempt("late HTTP", check_late, GET)
        attempt("late data", check_late, record(DATA, b"x" * 100))
        attempt("goodbye and no patience", check_unread_goodbye)
