#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Attacks the HTTP server of `tertulia serve` over raw sockets.

After each attack the same process must answer, lead a whole conversation, and
have no more descriptors, threads and memory than before. The attacks and what
they expect are in the files beside this one.

  run.py SERVER_PROGRAM [--count N] [--seed S] [--only NAME] [--long]
"""

import argparse
import resource
import sys
import tempfile
import time

import answers
import floods
import framing
import malformed
import oversized
import slow
import strangers
import web_socket_attacks
from campaign import Campaign
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
    ("half_closed", slow.half_closed, 1),
    ("resets", slow.resets, 3),
    ("handshakes", web_socket_attacks.handshakes, 1),
    ("autobahn", web_socket_attacks.autobahn, 1),
    ("drop", web_socket_attacks.drop, 3),
    ("time_limits", slow.time_limits, 1),  # with --long only
]


def raise_limit():
    """Allows as many descriptors as the system lets a program have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def attack_open_server(campaign, program, only):
    """Attacks a server without tokens."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, "-q")
        for name, attack, rounds in ATTACKS:
            if only and name not in only:
                continue
            if name == "time_limits" and not campaign.is_long:
                continue
            campaign.run(server, name, attack, rounds)
            if campaign.is_dirty:
                # What one attack leaves behind does not count against the next.
                stop(campaign, server)
                server = Server(program, folder, "-q")
                campaign.is_dirty = False
        stop(campaign, server)


def attack_guarded_server(campaign, program):
    """Attacks a server with tokens, as a stranger and as another caller."""
    with tempfile.TemporaryDirectory() as folder:
        server = strangers.start(program, folder)
        campaign.run(server, "strangers", strangers.strangers, 1)
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
    known = [name for name, *_ in ATTACKS] + ["strangers"]
    for name in args.only or ():
        if name not in known:
            parser.error(f"no attack is called {name}: {', '.join(known)}")
    raise_limit()
    began = time.monotonic()
    campaign = Campaign(args.seed, args.long, args.count)
    try:
        if args.only != ["strangers"]:
            attack_open_server(campaign, args.program, args.only)
        if not args.only or "strangers" in args.only:
            attack_guarded_server(campaign, args.program)
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
