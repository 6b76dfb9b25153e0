# SPDX-License-Identifier: BSD-3-Clause

"""Course of all attacks on one server: what they have in common, and their
report."""

import collections
import time

from server import STORE_CACHE_KIB
from wire import Ended, Violation


class Campaign:
    def __init__(self, seed, is_long, count):
        self.seed = seed
        self.is_long = is_long
        self.count = count  # of malformed requests
        self.attack = ""
        self.round = 0
        self.attempts = 0
        # Findings by their text without the attempt, so that one defect that a
        # thousand requests hit is reported once.
        self.findings = {}
        self.divisor = 1  # of the size of floods
        self.is_dirty = False  # whether the server needs another process
        self.hits = collections.Counter()

    def share(self, count):
        """Returns a number of clients, of which fewer take part with TLS: their
        handshakes would take most of the time."""
        return max(count // self.divisor, 1)

    def scale(self, count):
        """Returns the size of a flood."""
        return self.share(count * 10 if self.is_long else count)

    def report(self, name, what, key=None, hits=1):
        key = self.attack, name, key or what.split("\n")[0][:200]
        self.hits[key] += hits
        if key not in self.findings:
            self.findings[key] = what
            print(f"  FAILED {name}: {what}", flush=True)

    def has_found(self):
        """Returns whether this attack has a finding."""
        return any(x[0] == self.attack for x in self.findings)

    def attempt(self, name, call):
        """Makes an attempt, and goes on after a violation."""
        self.attempts += 1
        try:
            call()
        except Violation as x:
            self.report(name, str(x))
        except Ended:
            self.report(name, "the connection has ended without an answer")
        except (OSError, ValueError) as x:
            self.report(name, f"{type(x).__name__}: {x}")

    def run(self, server, name, attack, rounds):
        """Runs an attack, and checks the server after each of its rounds."""
        self.attack = name
        before = self.attempts
        began = time.monotonic()
        memory = []
        if not self.check(server.settle):
            return
        first = server.resident()
        for self.round in range(rounds):
            attack(server, self)
            self.check(server.check_level)
            if server.process.poll() is not None:
                return
            memory.append(server.resident())
        # The first round may fill caches and arenas.
        margin = server.margin + (STORE_CACHE_KIB if self.is_long else 0)
        if len(memory) > 2 and memory[-1] - memory[1] > margin:
            self.report("memory", f"grows in each round: {memory} KiB")
        print(f"{name}: {self.attempts - before} attempts in "
              f"{time.monotonic() - began:.1f} s, memory "
              + " ".join(f"{x / 1024:.0f}" for x in (first, *memory))
              + " MiB", flush=True)

    def check(self, call):
        """Checks the server. Returns whether it is as it should be; otherwise
        the next attack needs another process."""
        try:
            call()
            return True
        except Violation as x:
            self.report("afterwards", str(x))
        except Ended:
            self.report("afterwards", "/healthz or a turn is not answered")
        except OSError as x:
            self.report("afterwards", f"the server cannot be reached: {x}")
        self.is_dirty = True
        return False
