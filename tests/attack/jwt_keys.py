# SPDX-License-Identifier: BSD-3-Clause

"""Keys of a login server that change while `tertulia serve` runs: SIGHUP makes
it read their file again.

What jwt_verifier.cpp tests of `renew()` itself is not repeated: here a process
gets the signal, and goes on with its old keys if the new file is broken.
"""

import signal

import jwt
from jwt import Key, check_bad, check_good, claims
from secure import Certificate
from strangers import bearer, call
from wire import Ended, Violation

# Longest wait for the effect of a signal, in seconds.
PATIENCE = 20

# Files that a server refuses, with the reason in its log; None stands for a
# file that is missing.
BROKEN = [
    ("empty", "", "expected JSON"),
    ("cut off", '{"keys": [{"kty": "RSA"', "expected JSON"),
    ("without an object", "[]", "is not an array"),
    ("without keys", '{"keys": []}', "has no key"),
    ("with a secret", '{"keys": [{"kty": "oct", "k": "AAAA"}]}', "has no key"),
    ("with a private key",
     '{"keys": [{"kty": "EC", "crv": "P-256", "d": "AAAA"}]}', "private key"),
    ("with an unreadable key",
     '{"keys": [{"kty": "RSA", "n": "?", "e": "AQAB"}]}', "cannot be read"),
    ("missing", None, "keys.json: No such file"),
]

# Last line of the log about a file that is refused.
GOES_ON = "The server continues with what it read before."


def start(program, folder):
    """Starts a server with TLS, whose certificate is renewed with the keys."""
    return jwt.start(program, folder, Certificate(folder))


def renew(server):
    server.process.send_signal(signal.SIGHUP)


def status(server, key):
    """Returns the status of a request with a token that a key has signed."""
    return call(server, "GET", "/actions",
                fields=bearer(key.sign(claims()))).status


def check_keys(server, good, bad):
    """Checks that tokens of one key are good, and those of another are not,
    whichever key they name."""
    check_good(server, good.sign(claims()))
    for kid in (bad.name, good.name, None):
        check_bad(server, bad.sign(claims(), kid=kid))


def check_renewal(server, good, bad):
    """After a signal the server knows the keys in the file, and no others."""
    renew(server)
    server.wait_until(
        lambda: (status(server, good), status(server, bad)) == (200, 401),
        lambda: f"the new key gets {status(server, good)}, and the old one "
                f"{status(server, bad)}: {server.log()[-4000:]}", PATIENCE)
    server.fields = bearer(good.sign(claims()))
    check_keys(server, good, bad)


def check_broken(server, reason, good, bad):
    """After a signal the log gives the reason, and the keys are as before."""
    size = len(server.log())
    renew(server)
    server.wait_until(
        lambda: GOES_ON in server.log()[size:],
        lambda: f"the log has {server.log()[size:]!r}", PATIENCE)
    first = server.log()[size:].split("\n")[0]
    if not first.startswith("tertulia: ") or reason not in first:
        raise Violation(f"the log gives the reason {first!r}")
    check_keys(server, good, bad)


def is_trusted(server):
    """Returns whether a client makes a handshake."""
    try:
        server.connect().close()
        return True
    except Ended:
        return False


def check_certificate(server):
    """A broken file of keys does not stop the renewal of the certificate."""
    server.certificate = Certificate(server.folder)
    server.tls = server.certificate.context()
    if is_trusted(server):
        raise Violation("the certificate is new without a signal")
    server.login.write("")
    renew(server)
    server.wait_until(lambda: is_trusted(server), lambda:
                      f"the certificate is old: {server.log()[-4000:]}",
                      PATIENCE)


def keys(server, campaign):
    """Files of keys that replace each other: good ones and broken ones."""
    login = server.login
    old, new = login.rsa, Key(server.folder, "new", "RS256")
    campaign.attempt("keys of the first file", lambda:
                     check_keys(server, old, new))
    login.publish(new)
    campaign.attempt("new file without a signal", lambda:
                     check_keys(server, old, new))
    campaign.attempt("new file", lambda: check_renewal(server, new, old))
    for name, text, reason in BROKEN:
        login.write(text)
        campaign.attempt(f"file {name}", lambda reason=reason:
                         check_broken(server, reason, new, old))
    # A container has a folder where it misses a file to mount.
    login.keys.unlink(missing_ok=True)
    login.keys.mkdir()
    campaign.attempt("folder", lambda:
                     check_broken(server, "Is a directory", new, old))
    login.keys.rmdir()
    campaign.attempt("new certificate", lambda: check_certificate(server))
    login.publish(old)
    campaign.attempt("good file after broken ones", lambda:
                     check_renewal(server, old, new))
