# SPDX-License-Identifier: BSD-3-Clause

"""A `tertulia serve` under attack, and what is measured of its process."""

import mmap
import os
import pathlib
import re
import signal
import subprocess
import time

from secure import SecureConnection
from wire import Connection, Violation, request, said

AGENT = "/session-flow/chat"

# Growth of the resident memory, from the second round of an attack to its last
# one, that is not taken for a leak: arenas of the allocator keep freed pages.
# AddressSanitizer also keeps freed blocks for a while. In a long campaign the
# store fills its cache of pages, which grows to 32 MiB.
MARGIN_KIB = 24 * 1024
SANITIZER_MARGIN_KIB = 160 * 1024
STORE_CACHE_KIB = 32 * 1024


class Server:
    def __init__(self, program, folder, *options, certificate=None):
        if certificate is not None:
            options += certificate.options()
        self.folder = pathlib.Path(folder)
        self.is_sanitized = has_sanitizer(program)
        self.margin = SANITIZER_MARGIN_KIB if self.is_sanitized else MARGIN_KIB
        self.errors = open(self.folder / "errors.log", "w+b")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--store",
             str(self.folder / "attacked.db"), "--model", "eliza", *options],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        url = self.process.stdout.readline().strip()
        found = re.search(r":(\d+)$", url)
        if not found:
            self.process.wait(30)
            raise SystemExit(f"the server does not start: {self.log()}")
        self.port = int(found[1])
        self.certificate = certificate  # None: it speaks no TLS
        self.tls = certificate and certificate.context()
        self.fields = []  # of the requests that check its health
        self.origin = None  # its level before an attack

    def connect(self, **options):
        """Returns a connection that is ready for requests."""
        if self.tls is None:
            return Connection(self.port, **options)
        return SecureConnection(self.port, **{"context": self.tls, **options})

    def connect_plain(self, **options):
        """Returns a connection without TLS, also to a server that speaks it."""
        return Connection(self.port, **options)

    def log(self):
        self.errors.flush()
        return (self.folder / "errors.log").read_text(errors="replace")

    # -- measures --------------------------------------------------------------

    def status(self, name):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise Violation(f"the process has no {name}: has it ended?")

    def resident(self):
        """Returns its resident memory in KiB."""
        return self.status("VmRSS")

    def threads(self):
        return self.status("Threads")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def wait_until(self, is_reached, what, within=5.0):
        """Waits for a measure, of which no event tells."""
        until = time.monotonic() + within
        while not is_reached():
            if time.monotonic() > until:
                raise Violation(what())
            time.sleep(0.01)

    # -- health ----------------------------------------------------------------

    def check_service(self):
        """Checks that the server answers, and leads a conversation."""
        if self.process.poll() is not None:
            raise Violation(f"the server has ended with "
                            f"{self.process.returncode}: {self.log()[-4000:]}")
        with self.connect() as at:
            at.send(request("GET", "/healthz", fields=self.fields))
            if (answer := at.read_answer()).status != 200:
                raise Violation(f"/healthz answers {answer.status}")
            at.send(request("POST", "/actions" + AGENT,
                            {"inputs": [said("Hello"), said("I am tired")]},
                            self.fields))
            answer = at.read_answer()
            if answer.status != 200:
                raise Violation(f"a turn is answered with {answer.status}: "
                                f"{answer.body[:400]!r}")
            messages = answer.json()["output"]["state"]["messages"]
            if [x["role"] for x in messages] != ["user", "model"] * 2:
                raise Violation(f"a conversation became {messages}")

    def settle(self):
        """Remembers the level to which the server has to come back."""
        self.check_service()
        self.wait_until(lambda: self.count_sockets() <= 1,
                        lambda: "connections stay open before the attack")
        self.origin = self.descriptors(), self.threads()

    def count_sockets(self):
        folder = f"/proc/{self.process.pid}/fd"
        count = 0
        for name in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{name}").startswith("socket:")
            except FileNotFoundError:
                pass  # closed meanwhile
        return count

    def check_level(self, within=5.0):
        """Checks the service, then that no connection and thread is left."""
        self.check_service()
        files, threads = self.origin
        self.wait_until(lambda: self.descriptors() <= files,
                        lambda: f"{self.descriptors()} descriptors, before "
                                f"there were {files}", within)
        self.wait_until(lambda: self.threads() <= threads,
                        lambda: f"{self.threads()} threads, before there were "
                                f"{threads}", within)

    # -- end -------------------------------------------------------------------

    def stop(self):
        """Ends the server. Raises `Violation` unless it ends as it should."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Violation("the server does not stop") from None
        finally:
            self.process.stdout.close()
        log = self.log()
        self.errors.close()
        if code != 0 or "Sanitizer" in log or "runtime error" in log:
            raise Violation(f"the server has ended with {code}: {log[-8000:]}")


def has_sanitizer(program):
    with open(program, "rb") as file, \
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b"__asan_init") >= 0
