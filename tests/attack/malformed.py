# SPDX-License-Identifier: BSD-3-Clause

"""Sends the malformed requests of grammar.py, pipelined over connections that
are used again, from several processes."""

import collections
import concurrent.futures
import multiprocessing
import os
import random
import time

import grammar
from wire import Ended, Violation, request

GROUP = 4    # requests between two that name themselves in their answers
GROUPS = 6   # on a connection, before the one that ends it

# Not 500, 501 and 503. A 504 is for requests to a run with a deadline.
ALLOWED = {200, 201, 202, 204, 101, 400, 401, 403, 404, 405, 409, 413, 426, 429,
           431, 499}


# How long a worker waits for the server. Where it has hung once, it does not
# wait as long again, so that one defect does not hold up the others.
PATIENCE = 5
NO_PATIENCE = 0.2


def check(answer, data, method="GET"):
    if answer.status not in ALLOWED \
            and (answer.status != 504 or b"deadline" not in data
                 and b"attach" not in data):
        raise Violation(f"answered with {answer.status} {answer.body[:200]!r}")
    if method != "HEAD":
        answer.check_error()


class Worker:
    """Client of one process."""

    def __init__(self, server, seed, count):
        self.server = server
        self.random = random.Random(seed)
        self.count = count
        self.sent = 0
        self.marks = 0
        self.codes = collections.Counter()
        self.findings = {}  # the first request of each, and how many
        self.patience = PATIENCE

    def report(self, what, data):
        if "neither answers nor ends" in what:
            self.patience = NO_PATIENCE
        found = self.findings.setdefault(what.split("\n")[0][:300],
                                         [grammar.show(data), 0])
        found[1] += 1

    def run(self):
        while self.sent < self.count:
            self.converse()
        return self.sent, self.codes, self.findings

    def converse(self):
        """Fills a connection with requests, and ends it by a bad one."""
        items = [grammar.whole(self.random) for _ in range(GROUP * GROUPS)]
        while items:
            done = self.pipeline(items)
            self.sent += done
            items = items[done:]  # not read after an answer that closes
        end = grammar.last if self.random.random() < 0.5 else grammar.free
        self.finish(end(self.random), end is grammar.last)
        self.sent += 1

    def pipeline(self, items):
        """Sends requests at once, and reads their answers.
        Returns how many have been answered."""
        steps = []
        for i, item in enumerate(items):
            steps.append((*item, None))
            # A client that asks for the end sends nothing more: answers that it
            # has not read yet would be lost by the reset of the connection.
            if b"\r\nConnection: close\r\n" in item[1]:
                break
            if (len(items) - i - 1) % GROUP == 0:
                self.marks += 1
                mark = f"/attack/{self.marks}"
                steps.append(("GET", request("GET", "/actions" + mark),
                              mark.encode()))
        done = 0
        with self.server.connect() as at:
            at.send(b"".join(data for _, data, _ in steps))
            data = before = b""
            try:
                for method, data, mark in steps:
                    answer = at.read_answer(method)
                    if mark is None:
                        done += 1
                        self.codes[answer.status] += 1
                        check(answer, data, method)
                    elif mark not in answer.body:
                        raise Violation("out of step: "
                                        f"{answer.body[:200]!r}")
                    if answer.is_last:
                        if not at.is_ended():
                            raise Violation("bytes follow the last answer")
                        break
                    before = data
            except Ended:
                self.report("ended without an answer", before + data)
                done += 1
            except Violation as x:
                self.report(str(x), data)
                done = max(done, 1)
        return done

    def finish(self, data, is_last):
        """Sends what cannot be read, or may be anything, with a good request
        behind it."""
        with self.server.connect(timeout=self.patience) as at:
            at.send(data + (request("GET", "/actions/attack/behind")
                            if is_last else b""))
            at.half_close()
            try:
                # A changed request may be several, of any methods.
                answer = at.read_answer(
                    "HEAD" if data[:4] == b"HEAD" else "GET")
                self.codes[answer.status] += 1
                check(answer, data)
                if answer.status == 101:
                    at.read_to_end()
                if not is_last:
                    while True:
                        check(at.read_answer(), data)
                if answer.status < 400 or not answer.is_last:
                    raise Violation("a request that cannot be read is answered "
                                    f"with {answer.status}")
                if not at.is_ended():
                    raise Violation("bytes behind a bad request are answered")
            except Ended:
                pass
            except Violation as x:
                self.report(str(x), data)


def adopt(server):
    """Takes the server over into a forked process."""
    global attacked
    attacked = server
    os.nice(5)


def work(seed, count):
    return Worker(attacked, seed, count).run()


def malformed(server, campaign, rounds=4):
    """Malformed requests of the grammar."""
    processes = 3
    count = -(-campaign.share(campaign.count) // rounds // processes)
    seeds = [(campaign.seed << 32) + (campaign.round << 16) + i
             for i in range(processes)]
    began = time.monotonic()
    codes = collections.Counter()
    sent = 0
    with concurrent.futures.ProcessPoolExecutor(
            processes, multiprocessing.get_context("fork"),
            adopt, (server,)) as pool:
        for done, some, findings in pool.map(
                work, seeds, [count] * processes):
            sent += done
            codes += some
            for what, (data, hits) in findings.items():
                campaign.report(what, data, key=what, hits=hits)
    campaign.attempts += sent
    took = time.monotonic() - began
    print(f"  {sent} malformed requests, {sent / took:.0f} a second: "
          + ", ".join(f"{n} x {code}" for code, n in sorted(codes.items())),
          flush=True)
