# SPDX-License-Identifier: BSD-3-Clause

"""`tertulia serve` and its clients, for the recipes beside this file."""

import base64
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

CHAT = "session-flow/chat"
TOKENS = {"ann": "the-token-of-ann-0", "prometheus": "the-token-of-numbers"}


def turn(text):
    return {"messages": [{"role": "user", "content": [{"text": text}]}]}


class Checks:
    """Counts what holds; the first that does not ends the recipe."""

    def __init__(self):
        self.passed = 0

    def equal(self, what, found, expected):
        if found != expected:
            sys.exit(f"FAILED: {what}: {found!r} is not {expected!r}")
        self.hold(what)

    def true(self, what, found, shown=""):
        if not found:
            sys.exit(f"FAILED: {what} {shown}")
        self.hold(what)

    def hold(self, what):
        self.passed += 1
        print(f"  {what}")

    def report(self):
        print(f"{self.passed} passed, 0 failed")


def until(attempt, what, within=30):
    """Returns the first true result of an attempt."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if result := attempt():
            return result
        time.sleep(0.05)
    sys.exit(f"FAILED: {what}: not within {within} s")


def blocks_of(page, kind):
    """Returns the lines of the code blocks of a page in docs/."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / page).read_text()
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", text,
                        re.DOTALL | re.MULTILINE)
    return [x.strip() for x in "".join(blocks).splitlines() if x.strip()]


@contextlib.contextmanager
def scratch():
    """A folder that ends with the recipe, also if that is terminated."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="deployment-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def program(command, **options):
    """A process that ends with its block."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextlib.contextmanager
def serve(tool, folder, *options, port=0, env=None):
    """`tertulia serve` with tokens; yields the process, its address as `url`
    and its log as `log`."""
    tokens = folder / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text("".join(f"{x} {y}\n" for x, y in TOKENS.items()))
    log = folder / "tertulia.log"
    command = [tool, "serve", "--port", str(port), "--tokens", tokens,
               "--store", folder / "chat.db", *options]
    with log.open("w") as errors, \
            program(command, stdout=subprocess.PIPE, stderr=errors, text=True,
                    env={**os.environ, **(env or {})}) as child:
        child.url = child.stdout.readline().strip()
        child.log = log
        if not child.url:
            sys.exit(f"FAILED: {tool} has not begun: {log.read_text()}")
        yield child


class Client:
    """HTTP client of one host, with or without TLS."""

    def __init__(self, port, name=None, certificate=None):
        self.port = port
        self.name = name or "127.0.0.1"
        self.tls = certificate and ssl.create_default_context(
            cafile=certificate)

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls.wrap_socket(plain, server_hostname=self.name) \
            if self.tls else plain

    def open(self, method, target, body=None, caller="ann", **fields):
        """Sends a request, and returns its answer, which is not read yet."""
        fields = {x.replace("_", "-"): y for x, y in fields.items()}
        if caller:
            fields["Authorization"] = f"Bearer {TOKENS[caller]}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection(self.name, self.port)
        connection.sock = self.connect()
        connection.request(method, target, body, fields)
        return connection.getresponse()

    def call(self, *words, **named):
        """Returns the status and the text of an answer."""
        with self.open(*words, **named) as answer:
            return answer.status, answer.read().decode()

    def say(self, text, **named):
        """Runs one turn, and returns the answer of the model."""
        status, answer = self.call("POST", f"/actions/{CHAT}",
                                   {"inputs": [turn(text)]}, **named)
        if status != 200:
            sys.exit(f"FAILED: a turn: {status} {answer}")
        state = json.loads(answer)["output"]["state"]
        return state["messages"][-1]["content"][0].get("text", "")


def events(answer):
    """Yields the events of a stream as they arrive."""
    fields = {}
    while line := answer.readline():
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name:
            fields[name] = value
        elif fields:
            if "event" in fields:
                yield fields["event"], json.loads(fields["data"])
            fields = {}


class WebSocket:
    """Client of a WebSocket (RFC 6455) that sends and reads texts."""

    def __init__(self, client, target, caller="ann", **fields):
        self.socket = client.connect()
        self.bytes = self.socket.makefile("rb")
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        head = {"Host": f"{client.name}:{client.port}", "Upgrade": "websocket",
                "Connection": "Upgrade", "Sec-WebSocket-Key": key,
                "Sec-WebSocket-Version": "13", **fields}
        if caller:
            head["Sec-WebSocket-Protocol"] = \
                f"tertulia.1, bearer.{TOKENS[caller]}"
        lines = [f"GET {target} HTTP/1.1",
                 *(f"{x}: {y}" for x, y in head.items())]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.status = int(self.bytes.readline().split()[1])
        while self.bytes.readline().strip():
            pass

    def send(self, kind, payload):
        mask = secrets.token_bytes(4)
        size = len(payload)
        head = bytes([0x80 | kind])
        head += bytes([0x80 | size]) if size < 126 \
            else struct.pack("!BH", 0xFE, size) if size < 65_536 \
            else struct.pack("!BQ", 0xFF, size)
        self.socket.sendall(head + mask + bytes(
            x ^ mask[i % 4] for i, x in enumerate(payload)))

    def tell(self, **message):
        self.send(1, json.dumps(message).encode())

    def frame(self):
        kind, size = self.bytes.read(2)
        size &= 0x7F
        if size > 125:
            wide = 2 if size == 126 else 8
            size = int.from_bytes(self.bytes.read(wide), "big")
        return kind & 0xF, self.bytes.read(size)

    def messages(self):
        """Yields messages; the last one is the code of the closing."""
        while True:
            kind, payload = self.frame()
            if kind == 9:
                self.send(10, payload)
            elif kind == 8:
                self.send(8, payload[:2])
                yield {"closed": int.from_bytes(payload[:2], "big")}
                self.socket.close()
                return
            else:
                yield json.loads(payload)


class Collector:
    """Collector of traces: keeps what it gets. The first request is refused as
    a busy collector does it. It is a model of OpenAI's kind as well."""

    def __init__(self):
        self.requests = []  # head and body of each
        self.guard = threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/chat/completions":
                    return self.complete(json.loads(body))
                with collector.guard:
                    collector.requests.append((self.path, self.headers, body))
                    is_first = len(collector.requests) == 1
                self.answer(503 if is_first else 200, "application/json",
                            b"{}")

            def complete(self, request):
                """Refuses a conversation of which the last word is "fail"."""
                if request["messages"][-1]["content"].endswith("fail"):
                    return self.answer(400, "application/json", json.dumps(
                        {"error": {"message": "no"}}).encode())
                choice = {"index": 0, "delta": {"content": "As you say."},
                          "finish_reason": "stop"}
                chunk = {"id": "answer-1", "model": "stub-2026",
                         "object": "chat.completion.chunk", "choices": [choice],
                         "usage": {"prompt_tokens": 3, "completion_tokens": 4,
                                   "total_tokens": 7}}
                text = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
                self.answer(200, "text/event-stream", text.encode())

            def answer(self, status, kind, body):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def accepted(self):
        """Returns the documents of all requests but the refused one."""
        with self.guard:
            return [json.loads(body) for _, _, body in self.requests[1:]]

    def spans(self):
        return [span for x in self.accepted() for of in x["resourceSpans"]
                for scope in of["scopeSpans"] for span in scope["spans"]]
