# SPDX-License-Identifier: BSD-3-Clause

"""Table of requests whose end or whose line two readers could see differently:
RFC 9112, and RFC 9110 for methods. Behind a proxy each disagreement smuggles a
request."""

from server import AGENT
from wire import Ended, Violation, request

# Each request is followed by one that names itself in its answer.
MARKER = request("GET", "/actions/attack/marker")

POST = b"POST /actions/attack/first HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /healthz HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"

# Outcomes. BAD: 400 or another refusal, and the end of the connection, so that
# nothing behind it is read. GOOD: an answer, and the next request is read.
# BAD_TOO: a refusal with or without the end. EITHER: GOOD or BAD. ONE: an
# answer of any kind, and the end.
BAD, GOOD, BAD_TOO, EITHER, ONE = "bad", "good", "bad too", "either", "one"


def coded(*codings, body=b"0\r\n\r\n", more=b""):
    fields = b"".join(b"Transfer-Encoding: %s\r\n" % x for x in codings)
    return POST + fields + more + b"\r\n" + body


def long(*lengths, body=b"hello"):
    fields = b"".join(b"Content-Length: %s\r\n" % x for x in lengths)
    return POST + fields + b"\r\n" + body


def line(text):
    return text + b"\r\n" + HOST + b"\r\n"


def field(text):
    return GET + HOST + text + b"\r\n\r\n"


TABLE = [
    # RFC 9112, 6.1: the last coding has to be chunked.
    ("coding gzip", coded(b"gzip", body=b""), BAD),
    ("coding identity", coded(b"identity", body=b""), BAD),
    ("coding xchunked", coded(b"xchunked"), BAD),
    ("coding chunked, gzip", coded(b"chunked, gzip"), BAD),
    ("coding chunked, identity", coded(b"chunked, identity"), BAD),
    ("coding chunked twice", coded(b"chunked, chunked"), BAD),
    ("coding chunked in two fields", coded(b"chunked", b"chunked"), BAD),
    ("coding chunked, then gzip", coded(b"chunked", b"gzip"), BAD),
    ("coding with a vertical tab", coded(b"\x0bchunked"), BAD),
    ("coding that is empty", coded(b""), BAD),
    ("coding with a quote", coded(b'"chunked"'), BAD),
    # No server has to know a coding but chunked.
    ("coding gzip, chunked", coded(b"gzip, chunked"), EITHER),
    ("coding gzip, then chunked", coded(b"gzip", b"chunked"), EITHER),
    ("coding Chunked", coded(b"Chunked"), GOOD),
    ("coding in HTTP/1.0", coded(b"chunked").replace(b"/1.1", b"/1.0")
     .replace(HOST, HOST + b"Connection: keep-alive\r\n"), ONE),
    # RFC 9112, 6.3: contradictions.
    ("coding and length",
     coded(b"chunked", more=b"Content-Length: 5\r\n"), ONE),
    ("length and coding", POST + b"Content-Length: 5\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ONE),
    ("other coding and length", coded(b"xchunked", body=b"hello",
                                      more=b"Content-Length: 5\r\n"), BAD),
    ("two lengths", long(b"5", b"6", body=b"hello!"), BAD),
    ("two equal lengths", long(b"5", b"5"), EITHER),
    ("length 5, 5", long(b"5, 5"), EITHER),
    ("length 5, 6", long(b"5, 6", body=b"hello!"), BAD),
    *((f"length {x!r}", long(x), BAD)
      for x in (b"+5", b"-5", b"0x5", b"5a", b"", b"5.0", b"5e0", b"5;", b"5 5",
                b"\x0b5", b"5\0", b"1" * 40)),
    ("length 005", long(b"005"), EITHER),
    # RFC 9112, 7.1: chunks.
    *((f"chunk size {x!r}", coded(b"chunked", body=x + b"\r\n\r\n"), BAD)
      for x in (b"0x0", b"-0", b"+0", b" 0", b"", b"zz", b"1_0", b"0;", b"0\t",
                b"f" * 17)),
    ("chunk size in many digits", coded(b"chunked",
                                        body=b"0" * 40 + b"\r\n\r\n"), EITHER),
    ("chunk with a blank", coded(b"chunked", body=b"0 \r\n\r\n"), EITHER),
    ("chunk with line feeds", coded(b"chunked", body=b"0\n\n"), BAD),
    ("chunk that is longer",
     coded(b"chunked", body=b"2\r\nabXX0\r\n\r\n"), BAD),
    ("chunk extension", coded(b"chunked", body=b"0;a=b;c=\"d\"\r\n\r\n"), GOOD),
    ("chunk extension with a line feed", coded(b"chunked",
                                               body=b"0;a\nb\r\n\r\n"), BAD),
    ("trailer", coded(b"chunked", body=b"0\r\nX: y\r\n\r\n"), GOOD),
    ("trailer with a length", coded(b"chunked", body=b"0\r\nContent-Length: 99"
                                    b"\r\n\r\n"), EITHER),
    ("trailer without a colon", coded(b"chunked", body=b"0\r\nX\r\n\r\n"), BAD),
    # RFC 9112, 3: the line, and its target.
    ("blank before the method", line(b" GET /healthz HTTP/1.1"), BAD),
    ("two blanks", line(b"GET  /healthz HTTP/1.1"), BAD),
    ("tab", line(b"GET\t/healthz HTTP/1.1"), BAD),
    ("blank in the target", line(b"GET /heal thz HTTP/1.1"), BAD),
    ("blank at the end", line(b"GET /healthz HTTP/1.1 "), BAD),
    ("no version", line(b"GET /healthz"), BAD),
    *((f"version {x!r}", line(b"GET /healthz " + x), BAD)
      for x in (b"HTTP/2.0", b"HTTP/3", b"HTTP/1", b"HTTP/1.", b"http/1.1",
                b"HTTP/11", b"HTTP/+1.1", b"HTTP/0.9", b"HTTP/1.1.1")),
    ("version 1.2", line(b"GET /healthz HTTP/1.2"), EITHER),
    ("line feeds only", b"GET /healthz HTTP/1.1\nHost: localhost\n\n", EITHER),
    ("carriage return only", b"GET /healthz HTTP/1.1\rHost: localhost\r\r",
     BAD),
    ("NUL in the method", line(b"G\0T /healthz HTTP/1.1"), BAD),
    ("NUL in the target", line(b"GET /healthz\0 HTTP/1.1"), BAD),
    ("method in brackets", line(b"(GET) /healthz HTTP/1.1"), BAD),
    ("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", BAD),
    ("empty line before it", b"\r\n" + line(b"GET /healthz HTTP/1.1"), GOOD),
    ("absolute target", line(b"GET http://localhost/healthz HTTP/1.1"), GOOD),
    ("absolute target of another host",
     line(b"GET http://evil.example/healthz HTTP/1.1"), BAD_TOO),
    ("target of CONNECT", line(b"CONNECT localhost:80 HTTP/1.1"), BAD_TOO),
    ("bytes that are not ASCII", line(b"GET /healthz\xc2\x9b HTTP/1.1"),
     BAD_TOO),
    ("target with a fragment", line(b"GET /healthz#x HTTP/1.1"), BAD_TOO),
    # RFC 9112, 3.2: exactly one host.
    ("no host", GET + b"\r\n", BAD_TOO),
    ("two hosts", GET + HOST + b"Host: evil.example\r\n\r\n", BAD_TOO),
    ("two equal hosts", GET + HOST + HOST + b"\r\n", BAD_TOO),
    ("host with a blank", GET + b"Host: local host\r\n\r\n", BAD_TOO),
    ("host with a bad port", GET + b"Host: localhost:x\r\n\r\n", BAD_TOO),
    ("host with a user", GET + b"Host: a@localhost\r\n\r\n", BAD_TOO),
    # RFC 9112, 5: fields.
    ("blank before the colon", field(b"X : y"), BAD),
    ("length with a blank before the colon",
     POST + b"Content-Length : 5\r\n\r\nhello", BAD),
    ("no colon", field(b"X"), BAD),
    ("no name", field(b": x"), BAD),
    ("blank in a name", field(b"X Y: z"), BAD),
    ("NUL in a name", field(b"X\0: y"), BAD),
    ("NUL in a value", field(b"X: y\0z"), BAD),
    ("carriage return in a value", field(b"X: y\rz"), BAD),
    ("line feed in a value", field(b"X: y\nZ: z"), EITHER),
    ("first field folded", GET + b" X: y\r\n" + HOST + b"\r\n", BAD),
    ("folded value", field(b"X: y\r\n z"), EITHER),
    ("folded coding", POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n"
     b"0\r\n\r\n", EITHER),
    ("bytes that are not ASCII in a value", field(b"X: \xff\xfe"), EITHER),
    ("colon in a value", field(b"X: y: z"), GOOD),
    ("empty value", field(b"X:"), GOOD),
    ("body of a GET", GET + HOST + b"Content-Length: 5\r\n\r\nhello", GOOD),
    ("body of a GET that is a request", GET + HOST + b"Content-Length: %d\r\n"
     b"\r\n%s" % (len(MARKER), MARKER), GOOD),
    ("end of a chat in two packets", POST.replace(b"/actions/attack/first",
     b"/actions" + AGENT.encode()) + b"Content-Length: 2\r\n\r\n{}", GOOD),
]

# These must be a 400, says RFC 9112, 3.2.
ONLY_400 = ("no host", "two hosts", "two equal hosts", "host with a blank",
            "host with a bad port", "host with a user")


def check(server, name, data, outcome):
    with server.connect() as at:
        at.send(data + MARKER)
        at.half_close()
        answer = at.read_answer()
        answer.check_error()
        if answer.status >= 500:
            raise Violation(f"answered with {answer.status}: "
                            f"{answer.body[:200]!r}")
        if name in ONLY_400 and answer.status != 400:
            raise Violation(f"answered with {answer.status}, not with 400")
        if outcome in (BAD, BAD_TOO) and answer.status < 400:
            raise Violation(f"accepted with {answer.status}")
        try:
            after = at.read_answer()
        except Ended:
            if outcome == GOOD:
                raise Violation(f"answered with {answer.status}, and the next "
                                "request is not read") from None
            if not answer.is_last and outcome != ONE:
                raise Violation("the connection ends after an answer that does "
                                "not say so") from None
            return
        if outcome in (BAD, ONE):
            raise Violation(f"answered with {answer.status}, then the bytes "
                            f"behind it with {after.status}: "
                            f"{after.body[:100]!r}")
        if b"/attack/marker" not in after.body:
            raise Violation("the next request is read from a wrong place: "
                            f"{after.status} {after.body[:200]!r}")
        if outcome == GOOD and answer.status in (431, 413) \
                or outcome == GOOD and answer.status == 400 \
                and b"cannot be read" in answer.body:
            raise Violation(f"a good request is refused with {answer.status}: "
                            f"{answer.body[:200]!r}")
        if not at.is_ended():
            raise Violation("a third answer to two requests")


def framing(server, campaign):
    """Requests whose end is in doubt."""
    for name, data, outcome in TABLE:
        campaign.attempt(name, lambda name=name, data=data, outcome=outcome:
                         check(server, name, data, outcome))
