# SPDX-License-Identifier: BSD-3-Clause

"""Client of a conversation behind Tertulia's HTTP server, with the standard
library only: it hears everything once, also when its network is lost."""

import contextlib
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request

NETWORK = (OSError, http.client.HTTPException)


def insist(attempt):
    """Repeats what the network or a proxy has failed, up to a minute."""
    wait = 0.1
    while True:
        try:
            return attempt()
        except NETWORK as x:
            code = getattr(x, "code", 503)  # of an answer
            if code not in (429, 502, 503, 504) or wait > 30:
                raise error_of(x) if isinstance(x, urllib.error.HTTPError) else x
            time.sleep(wait)
            wait *= 2


def error_of(answer):
    try:
        error = json.load(answer)
        return RuntimeError(f"{error['status']}: {error['message']}")
    except (ValueError, KeyError):  # of a proxy
        return RuntimeError(str(answer))


class Conversation:
    def __init__(self, url, key, token="", **options):
        """Opens a run; for the key and the options see docs/server.md."""
        self.at = lambda route: f"{url}/{route}/{key}"
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            place = json.load(self.call(self.at("runs"), options))
        except urllib.error.HTTPError as x:
            raise error_of(x) from None
        self.query = "?run=" + urllib.parse.quote(place["run"])
        self.next = place["next"]  # position in the log of the run
        self.inputs = place["inputs"]  # number of the next input
        self.events = self.listen()

    def call(self, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(
            urllib.request.Request(target, data, self.headers), timeout=60)

    def post(self, **body):
        insist(lambda: self.call(self.at("inputs") + self.query, body).read())

    def send(self, *inputs):
        """Sends inputs. They have numbers: one that comes twice counts once."""
        number, self.inputs = self.inputs, self.inputs + len(inputs)
        self.post(inputs=inputs, number=number)

    def answer(self):
        """Yields the chunks of a turn until its end."""
        for event, data in self.events:
            if event == "turnEnd":
                return
            if event == "chunks":
                yield from data

    def close(self):
        """Closes the input, and returns the output of the run."""
        self.post(close=True)
        output = next(x for event, x in self.events if event == "output")
        with contextlib.suppress(*NETWORK):  # the run forgets itself later
            self.call(f"{self.at('inputs')}{self.query}&after={self.next}",
                      {"confirm": True})
        return output

    def listen(self):
        while True:
            target = f"{self.at('events')}{self.query}&after={self.next}"
            stream = insist(lambda: self.call(target))
            fields, heard = {}, self.next
            try:
                for line in stream:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name:
                        fields[name] = value
                        continue
                    if "data" not in fields:  # only a sign of life
                        fields = {}
                        continue
                    event, data = fields["event"], json.loads(fields["data"])
                    if event == "error":
                        raise RuntimeError(
                            f"{data['status']}: {data['message']}")
                    self.next = fields.get("id", self.next)
                    fields = {}
                    yield event, data
                    if event == "output":
                        return
            except NETWORK:
                pass  # an event that was cut off comes again
            if heard == self.next:
                time.sleep(0.1)
