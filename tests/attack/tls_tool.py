# SPDX-License-Identifier: BSD-3-Clause

"""What Python's `ssl` cannot do is done by `openssl s_client`: handshakes on an
open connection, new keys, early data, and tickets that were changed. Also the
sessions that are resumed, which tickets are for."""

import base64
import os
import random
import re
import select
import subprocess
import time

from tls import VERSIONS, flip
from wire import Violation, request

GET = request("GET", "/healthz")
LAST = request("GET", "/healthz", fields=[("Connection", "close")])


class Tool:
    """An `openssl s_client`."""

    def __init__(self, server, *options):
        self.text = b""
        self.process = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}",
             "-servername", "localhost", "-CAfile", server.certificate.file,
             *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read_until(self, text, within=10):
        """Reads up to some text, or to the end with None. Returns what came
        before it."""
        until = time.monotonic() + within
        file = self.process.stdout
        while text is None or text not in self.text:
            left = max(until - time.monotonic(), 0)
            if not select.select([file], [], [], left)[0]:
                raise Violation(f"openssl waits in vain for {text!r}: "
                                f"{self.text[-400:]!r}")
            if not (part := os.read(file.fileno(), 1 << 16)):
                if text is None:
                    break
                raise Violation(f"openssl ends without {text!r}: "
                                f"{self.text[-400:]!r}")
            self.text += part
        result, _, self.text = self.text.partition(text or self.text + b"x")
        return result

    def await_handshake(self):
        self.read_until(b"Verify return code: 0 (ok)")


# -- new handshakes and keys ---------------------------------------------------

def check_renegotiation(server):
    """The server makes no second handshake on a connection of TLS 1.2."""
    with Tool(server, "-tls1_2") as tool:
        tool.await_handshake()
        tool.send(GET)
        tool.read_until(b"200 OK")
        tool.send(b"R\n")
        rest = tool.read_until(None)
        if b"no renegotiation" not in rest \
                or tool.process.wait(10) == 0:
            raise Violation(f"a second handshake ends so: {rest[-400:]!r}")


def check_key_updates(server, letter, count):
    """A connection takes new keys of the client any number of times."""
    with Tool(server, "-tls1_3") as tool:
        tool.await_handshake()
        for i in range(count):
            tool.send(letter + b"\n")
            tool.read_until(b"KEYUPDATE")
            if i % 20 == 0:
                tool.send(GET)
                tool.read_until(b"200 OK")
        tool.send(LAST)
        tool.read_until(b"200 OK")


def renewals(server, campaign):
    """Handshakes and keys on a connection that is open."""
    for _ in range(campaign.scale(8)):
        campaign.attempt("renegotiation", lambda: check_renegotiation(server))
    for letter in (b"K", b"k"):
        campaign.attempt(f"key updates {letter.decode()}", lambda:
                         check_key_updates(server, letter, campaign.scale(
                             1_000)))


# -- tickets -------------------------------------------------------------------

def check_resumption(server, context, count):
    """A session can be resumed, also more than once."""
    session = None
    for i in range(count):
        with server.connect(context=context, session=session) as at:
            if at.tls.session_reused != (i > 0):
                raise Violation(f"connection {i} resumes no session" if i else
                                "a first connection resumes a session")
            at.send(GET)
            if (answer := at.read_answer()).status != 200:
                raise Violation(f"answered with {answer.status}")
            session = at.tls.session


def elements(der):
    """Yields the tag, the content and the end of each element."""
    at = 0
    while at < len(der):
        head = at
        at += 2 if der[at] & 31 != 31 else 3
        size = der[at - 1]
        if size & 0x80:
            size = int.from_bytes(der[at:at + (size & 0x7f)], "big")
            at += der[at - 1] & 0x7f
        yield der[head], der[head:at], der[at:at + size]
        at += size


def element(tag, content):
    """Returns an element of up to 64 KiB."""
    return bytes([tag, 0x82]) + len(content).to_bytes(2, "big") + content


TICKET, EARLY_DATA, PROTOCOL = 0xaa, 0xaf, 0xb0


class Session:
    """Session that `openssl` has stored: a sequence of tagged elements."""

    def __init__(self, text):
        der = base64.b64decode(b"".join(text.split(b"\n")[1:-2]))
        (_, _, content), = elements(der)
        self.parts = [(tag, inner) for tag, _, inner in elements(content)]

    def ticket(self):
        (_, _, result), = elements(dict(self.parts)[TICKET])
        return result

    def with_ticket(self, ticket):
        return self.text([(tag, element(4, ticket) if tag == TICKET else inner)
                          for tag, inner in self.parts])

    def with_early_data(self):
        """Returns a session of a server that had allowed early data."""
        parts = [x for x in self.parts if x[0] < EARLY_DATA]
        parts.append((EARLY_DATA, b"\2\2\x40\0"))
        parts += [x for x in self.parts if x[0] > EARLY_DATA]
        return self.text(parts)

    @staticmethod
    def text(parts):
        der = element(0x30, b"".join(element(*x) for x in parts))
        return (b"-----BEGIN SSL SESSION PARAMETERS-----\n"
                + base64.encodebytes(der)
                + b"-----END SSL SESSION PARAMETERS-----\n")


def talk(server, version, *options):
    """Makes one request. Returns what `openssl` tells of it."""
    with Tool(server, version, *options) as tool:
        tool.send(LAST)
        text = tool.read_until(None)
        if b"200 OK" not in text:
            raise Violation(f"not answered: {text[-400:]!r}")
        return text


def store_session(server, version):
    file = server.folder / "session.pem"
    talk(server, version, "-sess_out", file)
    return Session(file.read_bytes())


def resumes(server, version, text):
    """Returns whether the server takes a session."""
    file = server.folder / "changed.pem"
    file.write_bytes(text)
    told = talk(server, version, "-sess_in", file)
    return re.search(rb"^(New|Reused), ", told, re.M)[1] == b"Reused"


def check_tickets(server, version, rng, count):
    """A ticket that is not the server's own leads to a whole handshake."""
    session = store_session(server, version)
    ticket = session.ticket()
    if not resumes(server, version, session.with_ticket(ticket)):
        raise Violation("a ticket is not taken")
    changed = [flip(ticket, rng.randrange(8 * len(ticket)))
               for _ in range(count)]
    changed += [ticket[:-1], ticket[:16], b"x", ticket + b"x",
                rng.randbytes(len(ticket)), rng.randbytes(30_000)]
    for x in changed:
        if resumes(server, version, session.with_ticket(x)):
            raise Violation(f"a changed ticket is taken: {x[:400]!r}, of "
                            f"{ticket!r}")


def check_early_data(server):
    """A request that can be repeated by anyone is not answered."""
    session = store_session(server, "-tls1_3")
    file = server.folder / "early.pem"
    file.write_bytes(session.with_early_data())
    data = server.folder / "early.http"
    data.write_bytes(request("GET", "/actions/attack/early"))
    text = talk(server, "-tls1_3", "-sess_in", file, "-early_data", data)
    if b"Early data was rejected" not in text or b"/attack/early" in text:
        raise Violation(f"early data: {text[-2000:]!r}")


def tickets(server, campaign):
    """Sessions that are resumed, rightly and wrongly."""
    rng = random.Random(campaign.seed)
    for version in VERSIONS:
        context = server.certificate.context(version)
        campaign.attempt(f"resumption, {version.name}", lambda:
                         check_resumption(server, context, 20))
    for version in ("-tls1_2", "-tls1_3"):
        campaign.attempt(f"changed tickets {version}", lambda: check_tickets(
            server, version, rng, campaign.scale(80)))
    campaign.attempt("early data", lambda: check_early_data(server))
