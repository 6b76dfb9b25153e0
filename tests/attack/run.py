#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Attacks the HTTP server of `tertulia serve` over raw sockets, without TLS
and with it.

After each attack the same process must answer, lead a whole conversation, and
have no more descriptors, threads and memory than before. The attacks and what
they expect are in the files beside this one.

  run.py SERVER_PROGRAM [--count N] [--seed S] [--only NAME] [--long]

The names of the attacks on a server with TLS begin with "tls"; `--only tls`
selects all of them.
"""

import argparse
import resource
import sys
import tempfile
import time

import answers
import floods
import framing
import half_closed
import idle
import jwt
import jwt_keys
import limits
import malformed
import oversized
import pages
import slow
import strangers
import tls
import tls_streams
import tls_tool
import web_socket_attacks
from campaign import Campaign
from secure import Certificate, has_openssl
from server import Server
from wire import Violation

# Name, attack, rounds: memory is compared between the second and the last one.
ATTACKS = [
    ("answers", answers.answers, 1),
    ("framing", framing.framing, 1),
    ("requests", malformed.malformed, 4),
    ("oversized", oversized.requests, 3),
    ("names", oversized.names, 1),
    ("endless", oversized.endless, 3),
    ("connections", floods.connections, 3),
    ("half_requests", floods.half_requests, 3),
    ("pipelines", floods.pipelines, 3),
    ("runs", floods.runs, 3),
    ("inputs", floods.inputs, 3),
    ("slow_requests", slow.requests, 3),
    ("slow_readers", slow.readers, 3),
    ("half_closed", half_closed.half_closed, 1),
    ("resets", slow.resets, 3),
    ("handshakes", web_socket_attacks.handshakes, 1),
    ("autobahn", web_socket_attacks.autobahn, 1),
    ("drop", web_socket_attacks.drop, 3),
    ("time_limits", slow.time_limits, 1),
    ("idle_limits", idle.idle, 1),
]

# Attacks on TLS itself, then the others through TLS. Left out are `names`,
# `runs`, `inputs` and `strangers`, which attack what lies behind a connection;
# and `time_limits`, which looks for the end of a connection in TCP, where TLS
# has left unread bytes.
TLS_ATTACKS = [
    ("tls_other", tls.no_tls, 3),
    ("tls_hellos", tls.hellos, 1),
    ("tls_records", tls.unusual_records, 3),
    ("tls_corrupted", tls.corrupted, 1),
    ("tls_cut_off", tls.cut_off, 3),
    ("tls_slow", tls.slow_hellos, 1),
    ("tls_held", tls.held, 3),
    ("tls_changed", tls_streams.changed, 3),
    ("tls_ends", tls_streams.ends, 3),
    ("tls_tickets", tls_tool.tickets, 1),
    ("tls_renewals", tls_tool.renewals, 1),
    ("tls_answers", answers.answers, 1),
    ("tls_framing", framing.framing, 1),
    ("tls_requests", malformed.malformed, 4),
    ("tls_oversized", oversized.requests, 3),
    ("tls_endless", oversized.endless, 3),
    ("tls_connections", floods.connections, 3),
    ("tls_half_requests", floods.half_requests, 3),
    ("tls_pipelines", floods.pipelines, 1),
    ("tls_slow_requests", slow.requests, 1),
    ("tls_slow_readers", slow.readers, 3),
    ("tls_half_closed", half_closed.half_closed, 1),
    ("tls_resets", slow.resets, 3),
    ("tls_handshakes", web_socket_attacks.handshakes, 1),
    ("tls_autobahn", web_socket_attacks.autobahn, 1),
    ("tls_drop", web_socket_attacks.drop, 3),
    ("tls_time_limits", tls.time_limits, 1),
    ("tls_idle_limits", idle.idle, 1),
]

# Attacks with --long only.
LONG = {"time_limits", "idle_limits", "tls_time_limits", "tls_idle_limits"}

# Factor by which a flood is smaller with TLS.
TLS_DIVISOR = 8


def raise_limit():
    """Allows as many descriptors as the system lets a program have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def attack_server(campaign, start, attacks, only):
    """Attacks a server without tokens.

    @param start starts a process.
    """
    server = start()
    for name, attack, rounds in attacks:
        if name not in only:
            continue
        if name in LONG and not campaign.is_long:
            continue
        campaign.run(server, name, attack, rounds)
        if campaign.is_dirty:
            # What one attack leaves behind does not count against the next.
            stop(campaign, server)
            server = start()
            campaign.is_dirty = False
    stop(campaign, server)


def attack_plain_server(campaign, program, only):
    with tempfile.TemporaryDirectory() as folder:
        attack_server(campaign, lambda: Server(program, folder, "-q"), ATTACKS,
                      only)


def attack_secure_server(campaign, program, only):
    if not has_openssl():
        print("TLS is not attacked: that needs the program openssl.")
        return
    campaign.divisor = TLS_DIVISOR
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(folder)
        attack_server(campaign, lambda: Server(
            program, folder, "-q", certificate=certificate), TLS_ATTACKS, only)
    campaign.divisor = 1


def attack_guarded_server(campaign, program):
    """Attacks a server with tokens, as a stranger and as another caller."""
    with tempfile.TemporaryDirectory() as folder:
        server = strangers.start(program, folder)
        campaign.run(server, "strangers", strangers.strangers, 1)
        stop(campaign, server)


def attack_servers_of_logins(campaign, program, only):
    """Attacks servers whose callers have tokens of a login server."""
    if not has_openssl():
        print("No tokens are signed: that needs the program openssl.")
        return
    for name, start, attack in (("tokens", jwt.start, jwt.tokens),
                                ("keys", jwt_keys.start, jwt_keys.keys)):
        if name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = start(program, folder)
            campaign.run(server, name, attack, 1)
            stop(campaign, server)


def attack_server_of_pages(campaign, program):
    """Attacks servers that pages of other sites may use."""
    for origins, attack in ((pages.ALLOWED, pages.pages),
                            (["*"], pages.every_page)):
        with tempfile.TemporaryDirectory() as folder:
            server = pages.start(program, folder, *origins)
            campaign.run(server, attack.__name__, attack, 1)
            stop(campaign, server)


def attack_limits(campaign, program):
    """Attacks the limits of a server that shows its sessions, and asks it to
    stop meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, "-q", "--sessions")
        campaign.run(server, "limits", limits.limits, 1)
        campaign.attempt("end", lambda: limits.check_end(server))
        stop(campaign, server)


def stop(campaign, server):
    campaign.attack = "end"
    campaign.attempt("stop", server.stop)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=8_000,
                        help="number of malformed requests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append",
                        help="name of an attack; may be repeated")
    parser.add_argument("--long", action="store_true",
                        help="larger floods, and the time limits of the server")
    args = parser.parse_args()
    plain, secure = ([name for name, *_ in x] for x in (ATTACKS, TLS_ATTACKS))
    known = plain + secure + ["strangers", "tokens", "keys", "pages", "limits"]
    only = set(args.only or known)
    if "tls" in only:
        only = only - {"tls"} | set(secure)
    for name in only - set(known):
        parser.error(f"no attack is called {name}: {', '.join(known)}")
    raise_limit()
    began = time.monotonic()
    campaign = Campaign(args.seed, args.long, args.count)
    try:
        if only & set(plain):
            attack_plain_server(campaign, args.program, only)
        if only & set(secure):
            attack_secure_server(campaign, args.program, only)
        if "strangers" in only:
            attack_guarded_server(campaign, args.program)
        if only & {"tokens", "keys"}:
            attack_servers_of_logins(campaign, args.program, only)
        if "pages" in only:
            attack_server_of_pages(campaign, args.program)
        if "limits" in only:
            attack_limits(campaign, args.program)
    except Violation as x:
        campaign.report("start", str(x))
    print(f"{campaign.attempts} attempts in {time.monotonic() - began:.1f} s "
          f"with the seed {args.seed}")
    for (attack, name, what), count in campaign.hits.items():
        print(f"FAILED {attack}, {count} times: {name}"
              + (f": {what}" if what != name else ""))
    sys.exit(1 if campaign.findings else 0)


if __name__ == "__main__":
    main()
