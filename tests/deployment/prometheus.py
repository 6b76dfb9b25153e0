# SPDX-License-Identifier: BSD-3-Clause

"""Lets Prometheus read the metrics of `tertulia serve` with
examples/deployment/prometheus.yml, and asks the queries of
docs/observability.md:

    prometheus.py TERTULIA EXAMPLES
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from deployment import (CHAT, TOKENS, Checks, Client, blocks_of, program,
                        scratch, serve, until)

# Opens a run that fails.
NO_SNAPSHOT = {"session": "none", "snapshot": "none"}


def own_configuration(text, folder, target):
    """Returns the configuration with other places, and without patience."""
    for old, new in {"scrape_interval: 15s": "scrape_interval: 1s",
                     "/etc/prometheus/": f"{folder}/",
                     "127.0.0.1:8080": target}.items():
        if old not in text:
            sys.exit(f"FAILED: prometheus.yml has no {old}")
        text = text.replace(old, new)
    return text


def promtool(*words, **options):
    result = subprocess.run(["promtool", *words], capture_output=True,
                            text=True, timeout=60, check=False, **options)
    return result.returncode, result.stdout + result.stderr


class Prometheus:
    """HTTP API of a Prometheus that picks its port, and says so in its log."""

    def __init__(self, child, log):
        def address():
            if child.poll() is not None:
                sys.exit(f"FAILED: prometheus has ended: {log.read_text()}")
            return re.search(r'"Listening on" address=(127\.0\.0\.1:[1-9]\d*)',
                             log.read_text())

        def is_ready():
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=10):
                    return True
            except urllib.error.HTTPError:
                return False

        self.url = f"http://{until(address, 'the address of prometheus')[1]}"
        until(is_ready, "prometheus is ready")

    def ask(self, route, **query):
        target = f"{self.url}/api/v1/{route}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(target, timeout=10) as answer:
            return json.load(answer)["data"]

    def target(self):
        """Returns the target when it has been read."""
        found = self.ask("targets")["activeTargets"]
        return found[0] if found and found[0]["health"] != "unknown" else None

    def value(self, query):
        """Returns the sum of a query; None if it has no number."""
        values = [float(x["value"][1])
                  for x in self.ask("query", query=query)["result"]]
        values = [x for x in values if x == x]  # 0 / 0 is none
        return sum(values) if values else None


def try_text(checks, client):
    status, text = client.call("GET", "/metrics", caller="prometheus")
    checks.equal("the metrics are shown", status, 200)
    checks.equal("promtool has nothing to say about them",
                 promtool("check", "metrics", input=text), (0, ""))
    names = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    page = (pathlib.Path(__file__).parents[2] / "docs" / "observability.md")
    rows = set(re.findall(r"^\| `(tertulia_\w+)`", page.read_text(),
                          re.MULTILINE))
    checks.equal("the page lists each of them", names, rows)


def main(tool, examples):
    checks = Checks()
    with scratch() as folder, serve(tool, folder) as web:
        target = urllib.parse.urlsplit(web.url)
        client = Client(target.port)
        client.say("Hello")
        try_text(checks, client)

        token = folder / "tertulia.token"
        token.write_text("not-a-token-of-this-server")
        token.chmod(0o600)
        file = folder / "prometheus.yml"
        text = (examples / "deployment" / "prometheus.yml").read_text()
        missing = [x for x in blocks_of("observability.md", "yaml")
                   if x not in text]
        checks.equal("the page shows lines of the file", missing, [])
        file.write_text(own_configuration(text, folder, target.netloc))
        status, said = promtool("check", "config", file)
        checks.true("promtool takes the configuration", status == 0, said)

        log = folder / "prometheus.log"
        command = ["prometheus", f"--config.file={file}",
                   f"--storage.tsdb.path={folder}/data",
                   "--web.listen-address=127.0.0.1:0"]
        with log.open("w") as errors, \
                program(command, stdout=errors, stderr=errors, cwd=folder,
                        env={**os.environ, "GOMAXPROCS": "1"}) as child:
            server = Prometheus(child, log)
            found = until(server.target, "the first read")
            checks.true("a wrong token reads nothing", found["health"] == "down"
                        and "401" in found["lastError"], found)
            token.write_text(TOKENS["prometheus"])  # is read each time
            until(lambda: server.target()["health"] == "up",
                  "a read with the token")
            checks.hold("the token of the file reads the metrics")
            for query in blocks_of("observability.md", "promql"):
                def is_above_zero():
                    client.say("use the dice tool")
                    client.call("POST", f"/actions/{CHAT}", NO_SNAPSHOT)
                    return (server.value(query) or 0) > 0
                until(is_above_zero, query)
                checks.hold(query)
            until(lambda: server.value("sum(tertulia_runs_open)") == 0,
                  "no run is under way")
            checks.hold("no run is under way at the end")
    checks.report()


main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
