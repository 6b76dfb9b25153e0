# SPDX-License-Identifier: BSD-3-Clause

"""Attacks on the handshake of TLS, over raw sockets: bytes that are no TLS, and
hellos of clients that are wrong, weak, cut off, changed or held."""

import random
import signal
import ssl

from hello import check_alerts, has_server_hello, read_to_end
from secure import client_hello
from slow import drip
from tls_hellos import BAD, GOOD, OPEN, hellos_of, messages_instead
from tls_records import floods_of_records, records_of, strange
from wire import Ended, Violation, request

PATIENCE = 5

VERSIONS = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3

# Connections that are held at once.
MOST_HELD = 400

# -- tables --------------------------------------------------------------------

def check(server, data, outcome):
    with server.connect_plain(timeout=PATIENCE) as at:
        at.send(data)
        if outcome != BAD:
            at.half_close()
        found = read_to_end(at)
    check_alerts(found)
    if outcome == GOOD and not has_server_hello(found):
        raise Violation(f"refused: {found}")
    if outcome in (BAD, OPEN) and has_server_hello(found):
        raise Violation("a handshake goes on")


def check_table(server, campaign, table):
    for name, data, outcome in table:
        campaign.attempt(name, lambda data=data, outcome=outcome:
                         check(server, data, outcome))


def no_tls(server, campaign):
    """Other protocols, and random bytes."""
    rng = random.Random(campaign.seed << 8 | campaign.round)
    check_table(server, campaign, strange(rng, 500 if campaign.is_long else 50))


def hellos(server, campaign):
    """Hellos that a server must refuse, and some that it may take."""
    check_table(server, campaign, hellos_of(server.tls))
    check_table(server, campaign, messages_instead())


def unusual_records(server, campaign):
    """Records of wrong types, lengths and numbers."""
    check_table(server, campaign, records_of())
    check_table(server, campaign, floods_of_records())


# -- changes -------------------------------------------------------------------

def flip(data, bit):
    """Returns bytes with another bit."""
    result = bytearray(data)
    result[bit // 8] ^= 1 << bit % 8
    return bytes(result)


def check_flipped_hello(server, data):
    """Any answer is TLS, and the connection ends with the client's half."""
    with server.connect_plain(timeout=PATIENCE) as at:
        at.send(data)
        at.half_close()
        check_alerts(read_to_end(at))


def protected_bytes(data):
    """Returns the places in some records that a change must break: all but
    their versions, which a server may ignore (RFC 8446, 5.1)."""
    result, at = [], 0
    while at < len(data):
        end = at + 5 + int.from_bytes(data[at + 3:at + 5], "big")
        result += [at, *range(at + 3, end)]
        at = end
    return result


def check_flipped_flight(server, context, rng):
    """After a change in the second flight of a client there is no answer."""
    def deliver(at, flight, data):
        if flight > 0:
            data = flip(data, 8 * rng.choice(protected_bytes(data))
                        + rng.randrange(8))
        at.send_raw(data)
        if flight > 0:
            # Of TLS 1.2, in which the server speaks last, this is the end.
            if context.minimum_version == ssl.TLSVersion.TLSv1_2:
                at.cut()

    try:
        at = server.connect(context=context, deliver=deliver, timeout=PATIENCE)
    except Ended:
        return
    with at:
        at.send(request("GET", "/healthz"))
        at.cut()
        if not at.is_ended():
            raise Violation("a changed handshake is followed by an answer")
        at.reset()


def corrupted(server, campaign):
    """Handshakes of which a bit is changed: in each byte of a hello, and in
    some of what follows it; with `--long` in each bit."""
    rng = random.Random(campaign.seed << 8 | campaign.round)
    data = client_hello(server.tls)
    for bit in range(0, 8 * len(data), 1 if campaign.is_long else 8):
        if not campaign.is_long:
            bit += rng.randrange(8)
        campaign.attempt(f"bit {bit} of a hello", lambda bit=bit:
                         check_flipped_hello(server, flip(data, bit)))
    for version in VERSIONS:
        context = server.certificate.context(version)
        for i in range(campaign.scale(30)):
            campaign.attempt(f"{version.name}, second flight", lambda:
                             check_flipped_flight(server, context, rng))


# -- ends ----------------------------------------------------------------------

def cut_off(server, campaign):
    """Hellos that end anywhere: closed, reset, or held beside others; and
    handshakes that end after the answer of the server."""
    data = client_hello(server.tls)
    step = 1 if campaign.is_long else 4
    held = []
    for cut in range(campaign.round % step, len(data) + 1, step):
        for part in (data[:cut], data[:cut] + b"\0" * 5):
            campaign.attempt(f"hello of {cut} bytes, closed", lambda part=part:
                             check_flipped_hello(server, part))
        at = server.connect_plain()
        at.send(data[:cut])
        at.reset()
        held.append(server.connect_plain())
        held[-1].send(data[:cut])
        campaign.attempts += 2
    campaign.attempt("service beside hellos that are held",
                     server.check_service)
    for i, at in enumerate(held):
        end(at, i)
    for i in range(campaign.scale(50)):
        at = server.connect_plain()
        at.send(data)
        at.fill()
        end(at, i)
        campaign.attempts += 1


def end(at, i):
    """Ends a connection in one of two ways."""
    if i % 2:
        at.reset()
    else:
        at.close()


def check_slow_hello(server, context):
    """A handshake byte by byte is as good as another one."""
    def deliver(at, _, data):
        for i in range(len(data)):
            at.send_raw(data[i:i + 1])

    with server.connect(context=context, deliver=deliver) as at:
        at.send(request("GET", "/healthz"))
        if (answer := at.read_answer()).status != 200:
            raise Violation(f"answered with {answer.status}")


def slow_hellos(server, campaign):
    """Handshakes of which each byte is a packet."""
    for version in VERSIONS:
        context = server.certificate.context(version)
        for _ in range(campaign.scale(3)):
            campaign.attempt(f"{version.name} byte by byte", lambda:
                             check_slow_hello(server, context))


# -- held handshakes -----------------------------------------------------------

def deliver_half(at, flight, data):
    """Sends all of the first flight, and half of the second one."""
    at.send_raw(data if flight == 0 else data[:len(data) // 2])


def hold(server, count):
    """Returns connections whose handshakes have stopped at several places."""
    data = client_hello(server.tls)
    context = server.certificate.context(ssl.TLSVersion.TLSv1_3)
    result = []
    for i in range(count):
        if i % 4 == 3:
            result.append(server.connect(context=context,
                                         deliver=deliver_half))
            continue
        at = server.connect_plain()
        at.send((b"", data[:len(data) // 2], data)[i % 4])
        result.append(at)
    return result


def held(server, campaign):
    """Handshakes that are held half-way; others are served meanwhile, also
    when the server reads its certificate again."""
    for _ in range(10 if campaign.is_long else 1):
        clients = hold(server, MOST_HELD)
        campaign.attempts += len(clients)
        campaign.attempt("service beside held handshakes",
                         server.check_service)
        server.process.send_signal(signal.SIGHUP)
        campaign.attempt("service with a new certificate",
                         server.check_service)
        for i, at in enumerate(clients):
            end(at, i)


def time_limits(server, campaign):
    """Handshakes that are held, or go on byte by byte, until the server ends
    them: `request_within` of 30 s."""
    before = server.count_sockets()
    clients = hold(server, MOST_HELD)
    slow = [(server.connect_plain(), b"\0") for _ in range(50)]
    for at, _ in slow:
        at.send(client_hello(server.tls)[:100])
    campaign.attempts += len(clients) + len(slow)

    def check_slow():
        ends = drip(slow, 45)
        if slow:
            raise Violation(f"{len(slow)} slow handshakes live after 45 s")
        if min(ends) < 25:
            raise Violation(f"a slow handshake ends after {min(ends):.0f} s")

    campaign.attempt("limit of slow handshakes", check_slow)
    campaign.attempt("limit of held handshakes", lambda: server.wait_until(
        lambda: server.count_sockets() <= before, lambda:
        f"{server.count_sockets() - before} held handshakes live"))
    for at in clients:
        at.reset()
