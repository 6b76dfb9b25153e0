# SPDX-License-Identifier: BSD-3-Clause

"""Talks to `tertulia serve` through nginx with examples/deployment/nginx.conf:

    nginx.py TERTULIA EXAMPLES
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.parse

from deployment import (CHAT, TOKENS, Checks, Client, Collector, WebSocket,
                        blocks_of, events, program, scratch, serve, turn, until)

NAME = "chat.example.org"
MEBIBYTE = 1 << 20
NOBODY = 65534


def own_configuration(text, folder, port, upstream):
    """Returns the configuration with other places, and without patience."""
    for old, new in {"listen 443 ": f"listen 127.0.0.1:{port} ",
                     "/etc/nginx/": f"{folder}/",
                     "/var/log/nginx/": f"{folder}/",
                     "proxy_read_timeout 10m": "proxy_read_timeout 5s",
                     "server 127.0.0.1:8080": f"server {upstream}"}.items():
        if old not in text:
            sys.exit(f"FAILED: nginx.conf has no {old}")
        text = text.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{x}_temp_path {folder}/{x};\n" for x in kinds)
    return (f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{\n{places}{text}\n}}\n")


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
         f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},DNS:localhost",
         "-keyout", folder / "tertulia.key", "-out", folder / "tertulia.crt"],
        check=True, capture_output=True)


def start_nginx(folder, listener, url, examples):
    """Starts nginx as a user without rights. It takes over a socket that is
    bound, as one does that replaces another, so its port is surely free."""
    port = listener.getsockname()[1]
    file = folder / "nginx.conf"
    text = (examples / "deployment" / "nginx.conf").read_text()
    file.write_text(own_configuration(
        text, folder, port, urllib.parse.urlsplit(url).netloc))
    options = {}
    if os.geteuid() == 0:
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for x in (folder, *folder.iterdir()):
            os.chown(x, NOBODY, NOBODY)
    options.update(pass_fds=[listener.fileno()], text=True,
                   env={**os.environ, "NGINX": f"{listener.fileno()};"})
    command = ["nginx", "-p", folder, "-c", file]
    check = subprocess.run([*command, "-t"], capture_output=True, check=False,
                           **options)
    if check.returncode != 0:
        sys.exit(f"FAILED: nginx.conf: {check.stderr}")
    return program(command, stderr=subprocess.PIPE, **options)


def try_requests(checks, client):
    checks.equal("a turn has its answer", client.say("Hello"),
                 "Good to hear from you. What is on your mind?")
    status, text = client.call("POST", f"/actions/{CHAT}", {}, caller=None)
    checks.equal("a call without a token is refused",
                 (status, json.loads(text)["status"]), (401, "UNAUTHENTICATED"))
    of_page = {"Origin": f"https://{NAME}:{client.port}"}
    checks.equal("a page of this host is served",
                 client.call("GET", "/actions", **of_page)[0], 200)
    checks.equal("a page of another host is refused",
                 client.call("GET", "/actions", Origin="https://x.org")[0], 403)
    checks.equal("the metrics are not shown",
                 client.call("GET", "/metrics", caller="prometheus")[0], 404)


def closed_connections(port):
    """Returns how many connections with a port have been closed lately."""
    waiting = "06"
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    places = [x.split()[1:4] for x in lines]
    return sum(state == waiting and f":{port:04X}" in near[-5:] + far[-5:]
               for near, far, state in places)


def try_page(checks, examples):
    text = (examples / "deployment" / "nginx.conf").read_text()
    missing = [x for x in blocks_of("server.md", "nginx") if x not in text]
    checks.equal("the page shows lines of the file", missing, [])


def try_connections(checks, client, port):
    before = closed_connections(port)
    for _ in range(20):
        client.call("GET", "/actions")
    checks.equal("20 calls close no connection to the server",
                 closed_connections(port) - before, 0)


def try_sizes(checks, client):
    body = json.dumps({"inputs": [turn("Hello")]}).encode()
    full = body.ljust(MEBIBYTE)
    checks.equal("a body of max_body is taken",
                 client.call("POST", f"/actions/{CHAT}", full)[0], 200)
    status, text = client.call("POST", f"/actions/{CHAT}", full + b" ")
    checks.equal("a larger one is refused",
                 (status, json.loads(text)["status"]),
                 (413, "INVALID_ARGUMENT"))


def try_stream(checks, client):
    _, text = client.call("POST", f"/runs/{CHAT}", {})
    query = "?run=" + urllib.parse.quote(json.loads(text)["run"])
    stream = client.open("GET", f"/events/{CHAT}{query}")
    heard = events(stream)
    checks.equal("the first event comes before the first turn",
                 next(heard)[0], "opened")
    for i, said in enumerate(("Hello", "I am tired", "Adiós")):
        client.call("POST", f"/inputs/{CHAT}{query}",
                    {"inputs": [turn(said)], "number": i})
        names = []
        while "turnEnd" not in names:
            names.append(next(heard)[0])
        checks.true(f"turn {i + 1} is heard while its stream goes on",
                    "chunks" in names, names)
    client.call("POST", f"/inputs/{CHAT}{query}", {"close": True})
    checks.equal("the stream ends with the output", [x for x, _ in heard][-1],
                 "output")


def try_web_socket(checks, client):
    refused = WebSocket(client, f"/talk/{CHAT}", caller=None)
    checks.equal("a WebSocket without a token is refused", refused.status, 401)
    talk = WebSocket(client, f"/talk/{CHAT}")
    checks.equal("one with a token is opened", talk.status, 101)
    talk.tell(open={})
    heard = talk.messages()
    checks.true("and hears so", "opened" in next(heard))
    for said in ("Hello", "I am " + "very " * 20_000 + "tired"):
        talk.tell(input=turn(said))
        count = 0
        for message in heard:
            count += len(message.get("chunks", ()))
            if "turnEnd" in message:
                break
        checks.true(f"a turn of {len(said)} characters", count > 0)
    talk.tell(close=True)
    checks.equal("the end of the run closes it",
                 [x.get("closed") for x in heard][-1], 4000)


def try_http_2(checks, client, certificate):
    if not shutil.which("curl"):
        return
    result = subprocess.run(
        ["curl", "--silent", "--http2", "--cacert", certificate, "--resolve",
         f"{NAME}:{client.port}:127.0.0.1", "--header",
         f"Authorization: Bearer {TOKENS['ann']}", "--header",
         "Accept: text/event-stream", "--data",
         json.dumps({"inputs": [turn("Hello")]}), "--write-out",
         "%{http_version} %{http_code}",
         f"https://{NAME}:{client.port}/actions/{CHAT}"],
        capture_output=True, text=True, timeout=30, check=False)
    checks.true("an event stream in HTTP/2",
                "event: output" in result.stdout
                and result.stdout.endswith("2 200"), result)


def try_example(checks, client, examples, certificate):
    lines = ["Hello", *["I am " + "very " * 60 + "tired"] * 5]
    result = subprocess.run(
        [sys.executable, "chat.py", f"https://localhost:{client.port}"],
        input="\n".join(lines) + "\n", capture_output=True, text=True,
        timeout=60, cwd=examples / "web", check=False,
        env={**os.environ, "TOKEN": TOKENS["ann"],
             "SSL_CERT_FILE": str(certificate)})
    checks.true("chat.py hears each answer",
                len(result.stdout.splitlines()) == len(lines),
                result.stdout + result.stderr)


def try_trace(checks, client, collector):
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    client.say("Hello", traceparent=f"00-{trace}-{parent}-01")
    found = until(lambda: [x for x in collector.spans()
                           if x["traceId"] == trace
                           and x.get("parentSpanId") == parent],
                  "the span of a request")
    checks.equal("a traceparent passes", [x["name"] for x in found],
                 ["POST /actions/{key}"])


def try_end(checks, client, web):
    """A server that is stopped, and one that has ended."""
    web.send_signal(signal.SIGSTOP)
    status, text = client.call("GET", "/readyz", caller=None)
    web.send_signal(signal.SIGCONT)
    checks.equal("a server that does not answer is too late",
                 (status, json.loads(text)["status"]),
                 (504, "DEADLINE_EXCEEDED"))
    web.terminate()
    web.wait(30)
    status, text = client.call("GET", "/readyz", caller=None)
    checks.equal("a server that is away is unavailable",
                 (status, json.loads(text)["status"]), (503, "UNAVAILABLE"))


def main(tool, examples):
    checks = Checks()
    with scratch() as folder, Collector() as collector, \
            socket.create_server(("127.0.0.1", 0)) as listener:
        folder.chmod(0o711)  # nginx has a folder of its own there
        place = folder / "nginx"
        place.mkdir()
        make_certificate(place)
        certificate = folder / "ca.crt"
        certificate.write_bytes((place / "tertulia.crt").read_bytes())
        client = Client(listener.getsockname()[1], NAME, certificate)
        with serve(tool, folder, "--behind-proxy", "--host", NAME,
                   env={"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}) as web, \
                start_nginx(place, listener, web.url, examples) as proxy:
            upstream = urllib.parse.urlsplit(web.url)
            # The socket listens already: the first request waits for nginx.
            checks.equal("the server is ready",
                         client.call("GET", "/readyz", caller=None)[0], 200)
            try_page(checks, examples)
            try_requests(checks, client)
            try_connections(checks, client, upstream.port)
            try_sizes(checks, client)
            try_stream(checks, client)
            try_web_socket(checks, client)
            try_http_2(checks, client, certificate)
            try_example(checks, client, examples, certificate)
            try_trace(checks, client, collector)
            try_end(checks, client, web)
        if proxy.returncode != 0:
            sys.exit(f"FAILED: nginx: {proxy.returncode} {proxy.stderr.read()}")
        written = (place / "tertulia.log").read_text()
        checks.true("the log of nginx has no query",
                    re.search(rf'"GET /events/{CHAT}" 200', written)
                    and "?" not in written, written)
    checks.report()


main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
