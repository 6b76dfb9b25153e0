# SPDX-License-Identifier: BSD-3-Clause
"""The program of all tests with mutants in it, and how it is run."""

import fnmatch
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

SWITCH = "TERTULIA_MUTANT"


class Wrong(Exception):
    """The list, the build or the program without a bug is not as it should."""


def limit_process():
    """A bug may write or keep without end, which must harm nobody else. And
    signals are as at a terminal: what runs in the background ignores some."""
    for x in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(x, signal.SIG_DFL)
    for what, most in ((resource.RLIMIT_CORE, 0),
                       (resource.RLIMIT_AS, 8 << 30),
                       (resource.RLIMIT_FSIZE, 1 << 30)):
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def matches(name, tests):
    return any(fnmatch.fnmatchcase(name, x) for x in tests.split(":"))


class Program:
    """The tests with all mutants in them."""

    def __init__(self, path, jobs):
        self.path = path
        self.shards = 4 * jobs
        self.seconds = {}  # by test, without a bug

    def run(self, within, arguments=(), mutant=None, shard=None, stop=None):
        """Returns who has noticed, as text; None if nobody has."""
        env = dict(os.environ, RC_PARAMS="seed=1 noshrink=1")
        env.pop(SWITCH, None)
        if mutant:
            env[SWITCH] = str(mutant.number())
        if shard is not None:
            env.update(GTEST_TOTAL_SHARDS=str(self.shards),
                       GTEST_SHARD_INDEX=str(shard))
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            env["TMPDIR"] = folder
            with open(os.path.join(folder, "output"), "w+b") as output:
                child = subprocess.Popen(
                    [self.path, "--gtest_fail_fast", *arguments], env=env,
                    cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, start_new_session=True,
                    preexec_fn=limit_process)
                ended = self.wait(child, within, stop)
                output.seek(0)
                text = output.read().decode(errors="replace")
        if ended and child.returncode == 0:
            return None
        failed = re.findall(r"\[  FAILED  \] ([^\s,]+)", text)
        begun = re.findall(r"\[ RUN      \] (\S+)", text)
        if not ended:
            return f"{begun[-1] if begun else '?'}, which hangs"
        if failed:
            return failed[0]
        return (f"{begun[-1] if begun else '?'}, which ends with "
                f"{child.returncode}")

    @staticmethod
    def wait(child, within, stop):
        until = time.monotonic() + within
        try:
            while time.monotonic() < until and not (stop and stop.is_set()):
                try:
                    child.wait(0.2)
                    return True
                except subprocess.TimeoutExpired:
                    pass
            return child.poll() is not None
        finally:
            # With the processes that tests have started.
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()

    def limit_for(self, names):
        """Slow is not dead: others may want the cores, too."""
        return 30 + 4 * sum(self.seconds[x] for x in names)

    def check_without_a_bug(self, pool, folder):
        """Runs everything, and learns how long each test takes."""
        def one(shard):
            report = folder / f"{shard}.json"
            noticed = self.run(1200, [f"--gtest_output=json:{report}"],
                               shard=shard)
            if noticed and self.run(
                    300, [f"--gtest_filter={noticed.split(',')[0]}"]):
                raise Wrong(f"without a bug there is one: {noticed}")
            if noticed:  # it came and went
                noticed = self.run(1200, [f"--gtest_output=json:{report}"],
                                   shard=shard)
            if noticed:
                raise Wrong(f"without a bug there is one: {noticed}")
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    if test.get("status") == "RUN":
                        name = f"{suite['name']}.{test['name']}"
                        self.seconds[name] = float(test["time"].rstrip("s"))
        list(pool.map(one, range(self.shards)))

    def notice(self, mutant):
        """Runs who should notice."""
        names = [x for x in self.seconds if matches(x, mutant.tests)]
        return self.run(self.limit_for(names),
                        [f"--gtest_filter={mutant.tests}"], mutant)

    def notice_at_all(self, mutant, pool):
        """Runs everything until somebody notices."""
        stop = threading.Event()
        within = 30 + 4 * sum(self.seconds.values()) / self.shards * 2

        def one(shard):
            if stop.is_set():
                return None
            noticed = self.run(within, (), mutant, shard, stop)
            if stop.is_set():
                return None
            if noticed:
                stop.set()
            return noticed
        return next(filter(None, list(pool.map(one, range(self.shards)))), None)
