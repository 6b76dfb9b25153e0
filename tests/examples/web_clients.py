#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Talks to `tertulia serve` with the clients of examples/web, once directly
and once through a proxy that cuts each connection after a few bytes: they must
hear what `tertulia chat` says, all of it and once."""

import argparse
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading

LINES = ["Hello", *["I am tired of " + "very " * 60 + "long days"] * 40, "Adiós"]

# Bytes of the answers on one connection, by turns: some events fit into the
# large ones, and not even a head into the small one.
BUDGETS = [40_000, 40_000, 40_000, 60]


class CuttingProxy:
    """Proxy of one server that resets connections."""

    def __init__(self, port):
        self.target = port
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        for budget in (BUDGETS[i % len(BUDGETS)] for i in range(1 << 30)):
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.pump, args=(client, server, None),
                             daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, budget),
                             daemon=True).start()

    def pump(self, source, sink, budget):
        try:
            while part := source.recv(65_536):
                if budget is not None and len(part) >= budget:
                    sink.sendall(part[:budget])
                    self.cuts += 1
                    break
                sink.sendall(part)
                if budget is not None:
                    budget -= len(part)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def run(command, folder):
    result = subprocess.run(command, input="\n".join(LINES) + "\n", text=True,
                            capture_output=True, timeout=240, cwd=folder,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{command} has failed:\n{result.stderr}")
    return result.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("--node")
    args = parser.parse_args()
    clients = [[sys.executable, "chat.py"]]
    if args.node:
        clients.append([args.node, "chat.mjs"])
    else:
        print("without node: its client is not tried")
    with tempfile.TemporaryDirectory() as folder:
        expected = run([args.tool, "chat", "--quiet", "--new", "--store",
                        f"{folder}/chat.db"], folder)
        if len(expected) != len(LINES):
            sys.exit(f"unexpected answers: {expected}")
        server = subprocess.Popen(
            [args.tool, "serve", "--quiet", "--port", "0", "--store",
             f"{folder}/served.db"], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            for client in clients:
                proxy = CuttingProxy(int(re.search(r":(\d+)$", url)[1]))
                for place in (url, f"http://127.0.0.1:{proxy.port}"):
                    heard = run([*client, place], args.examples)
                    if heard != expected:
                        sys.exit(f"{client[-1]} has heard {heard} at {place}, "
                                 f"not {expected}")
                    print(f"{client[-1]}: {proxy.cuts} cuts")
                if proxy.cuts < 4:
                    sys.exit("the proxy has cut too little")
        finally:
            server.terminate()
            code = server.wait(60)
        if code != 0:
            sys.exit(f"the server has ended with {code}")


main()
