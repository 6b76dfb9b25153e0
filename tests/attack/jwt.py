# SPDX-License-Identifier: BSD-3-Clause

"""JSON Web Tokens at a server that knows the keys of a login server: good ones,
and those that a verifier may take for good. Keys and signatures are made with
the program openssl.

What jwt_verifier.cpp tests of the verifier itself is not repeated: here a token
comes in a header field, or as a protocol of a WebSocket, and is answered.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import time

from server import AGENT, Server
from strangers import bearer, call, check_refusal
from web_socket import WebSocket, upgrade
from wire import Violation, said

ISSUER = "https://login.example.org"
AUDIENCE = "chat"


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *map(str, arguments)], input=data,
                          check=True, capture_output=True).stdout


def encoded(data):
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def fixed_size(signature):
    """Returns the two numbers of a signature in DER, of 32 bytes each."""
    result, at = b"", 2
    for _ in range(2):
        size = signature[at + 1]
        number = int.from_bytes(signature[at + 2:at + 2 + size], "big")
        result += number.to_bytes(32, "big")
        at += 2 + size
    return result


class Key:
    """Key of a login server, in a file."""

    def __init__(self, folder, name, algorithm):
        self.name = name
        self.algorithm = algorithm
        self.file = pathlib.Path(folder) / f"{name}.pem"
        kind = (["rsa", "-pkeyopt", "rsa_keygen_bits:2048"]
                if algorithm == "RS256"
                else ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        openssl("genpkey", "-algorithm", *kind, "-out", self.file)

    def public(self, form="PEM"):
        return openssl("pkey", "-in", self.file, "-pubout", "-outform", form)

    def document(self):
        """Returns the public key as a JWK."""
        if self.algorithm == "RS256":
            number = openssl("rsa", "-in", self.file, "-noout", "-modulus")
            modulus = bytes.fromhex(number.decode().split("=")[1])
            return {"kty": "RSA", "kid": self.name, "n": encoded(modulus),
                    "e": encoded(b"\1\0\1")}
        point = self.public("DER")[-64:]
        return {"kty": "EC", "crv": "P-256", "kid": self.name,
                "x": encoded(point[:32]), "y": encoded(point[32:])}

    def sign(self, claims, **header):
        """Returns a token.

        @param header members that are added or replaced; None removes one.
        """
        header = {"alg": self.algorithm, "kid": self.name, **header}
        text = encoded({k: v for k, v in header.items() if v is not None}) \
            + "." + encoded(claims)
        signature = openssl("dgst", "-sha256", "-sign", self.file,
                            data=text.encode())
        if self.algorithm == "ES256":
            signature = fixed_size(signature)
        return text + "." + encoded(signature)


def claims(**changes):
    now = int(time.time())
    result = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now,
              "exp": now + 300, **changes}
    return {k: v for k, v in result.items() if v is not None}


def keyed(secret, **header):
    """Returns a token with a symmetric signature."""
    text = encoded({"alg": "HS256", **header}) + "." + encoded(claims())
    return text + "." + encoded(hmac.digest(secret, text.encode(),
                                            hashlib.sha256))


def good_tokens(rsa, ec):
    for key in (rsa, ec):
        yield key.algorithm, key.sign(claims())
    yield "typ", rsa.sign(claims(), typ="JWT")
    yield "aud of two", rsa.sign(claims(aud=["mail", AUDIENCE]))
    yield "nbf", rsa.sign(claims(nbf=int(time.time()) - 1))
    yield "own jwk beside a known key", ec.sign(claims(), jwk=ec.document())


def bad_tokens(rsa, ec, thief):
    now = int(time.time())
    for name, change in (
            ("expired", {"exp": now - 120}), ("without exp", {"exp": None}),
            ("not yet", {"nbf": now + 120}), ("aud", {"aud": "mail"}),
            ("without aud", {"aud": None}), ("aud of others", {"aud": []}),
            ("issuer", {"iss": ISSUER + "."}), ("without iss", {"iss": None}),
            ("without sub", {"sub": None}), ("sub of a session",
                                             {"sub": "ann/errands"}),
            ("empty sub", {"sub": ""}), ("long sub", {"sub": "x" * 129})):
        yield name, rsa.sign(claims(**change))
    body = encoded(claims())
    for alg in ("none", "None", "NONE", ""):
        head = encoded({"alg": alg, "kid": rsa.name})
        yield f"alg {alg!r}", f"{head}.{body}."
        yield (f"alg {alg!r} with a signature", f"{head}.{body}."
               + rsa.sign(claims()).split(".")[2])
    for key in (rsa, ec):
        document = json.dumps(key.document()).encode()
        for form, secret in (("PEM", key.public()), ("DER", key.public("DER")),
                             ("PEM line", key.public().strip()),
                             ("JWK", document)):
            yield (f"HS256 with the {form} of {key.name}",
                   keyed(secret, kid=key.name))
    yield "HS256 without a secret", keyed(b"", kid=rsa.name)
    yield "unknown key", thief.sign(claims())
    yield "key of another", thief.sign(claims(), kid=rsa.name)
    yield "unnamed key", thief.sign(claims(), kid=None)
    for kid in ("../thief", "/dev/null", "' or 1=1", str(thief.file)):
        yield f"kid {kid}", thief.sign(claims(), kid=kid)
    for name, value in (("jwk", thief.document()),
                        ("jku", "http://127.0.0.1:9/keys"),
                        ("jku", thief.file.as_uri()),
                        ("x5u", "http://127.0.0.1:9/keys"),
                        ("x5c", [base64.b64encode(
                            thief.public("DER")).decode()])):
        for kid in (None, rsa.name, thief.name):
            yield f"{name} and kid {kid}", thief.sign(
                claims(), kid=kid, **{name: value})
    head, body, signature = rsa.sign(claims()).split(".")
    yield "without a signature", f"{head}.{body}."
    yield "two parts", f"{head}.{body}"
    yield "changed claims", \
        f"{head}.{encoded(claims(sub='bob'))}.{signature}"
    yield "signature of another token", \
        f"{head}.{body}." + rsa.sign(claims(sub="bob")).split(".")[2]


def check_good(server, token):
    answer = call(server, "GET", "/actions", fields=bearer(token))
    if answer.status != 200:
        raise Violation(f"answered with {answer.status}: "
                        f"{answer.body[:200]!r}")
    answer = call(server, "POST", "/runs" + AGENT,
                  {"session": "errands", "live": "takeOver", "grace": "PT0.1S",
                   "inputs": [said("Hello")]}, bearer(token))
    if answer.json().get("session") != "ann/errands":
        raise Violation(f"the caller is not ann: {answer.body[:200]!r}")
    protocol = {"Sec_WebSocket_Protocol": "tertulia.1, bearer." + token}
    with WebSocket(server.connect(), **protocol) as at:
        at.open(keep=False)


def check_bad(server, token):
    for method, target in (("GET", "/actions"), ("POST", "/actions" + AGENT)):
        answer = call(server, method, target, fields=bearer(token))
        check_refusal(answer, f"{method} {target}")
        if answer.json()["message"] != "a bearer token is needed":
            raise Violation(f"the answer tells {answer.body[:200]!r}")
    with server.connect() as at:
        at.send(upgrade(Sec_WebSocket_Protocol="tertulia.1, bearer." + token))
        check_refusal(at.read_answer(), "a WebSocket")


class LoginServer:
    """Keys that a server knows, and one that it does not."""

    def __init__(self, folder):
        self.rsa = Key(folder, "rsa", "RS256")
        self.ec = Key(folder, "ec", "ES256")
        self.thief = Key(folder, "thief", "RS256")
        self.keys = pathlib.Path(folder) / "keys.json"
        self.publish(self.rsa, self.ec)

    def publish(self, *keys):
        """Replaces the file by one with these keys."""
        self.write(json.dumps({"keys": [x.document() for x in keys]}))

    def write(self, text):
        """Replaces the file as a whole, by its name; None removes it."""
        if text is None:
            self.keys.unlink()
            return
        file = self.keys.with_suffix(".next")
        file.write_text(text)
        file.replace(self.keys)


def start(program, folder, certificate=None):
    """Starts a server whose callers have tokens of a login server."""
    login = LoginServer(folder)
    server = Server(program, folder, "-q", "--jwt-keys", str(login.keys),
                    "--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE,
                    certificate=certificate)
    server.login = login
    server.fields = bearer(login.rsa.sign(claims()))
    return server


def tokens(server, campaign):
    """Tokens of a login server, and of others."""
    login = server.login
    for name, token in good_tokens(login.rsa, login.ec):
        campaign.attempt(f"good token, {name}", lambda x=token:
                         check_good(server, x))
    for name, token in bad_tokens(login.rsa, login.ec, login.thief):
        campaign.attempt(f"bad token, {name}", lambda x=token:
                         check_bad(server, x))
