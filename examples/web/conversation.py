# SPDX-License-Identifier: BSD-3-Clause

"""Client of a conversation behind Tertulia's HTTP server, with the standard
library only: it hears everything once, also when its network is lost."""

import contextlib
import http.client
import json
import time
import urllib.error
import urllib.request

# ValueError: an answer that is cut off is no JSON.
NETWORK = (OSError, http.client.HTTPException, ValueError)


def stream_of(answer):
    """Returns the lines of an answer; a proxy may have answered otherwise."""
    if answer.headers.get_content_type() != "text/event-stream":
        raise OSError("the answer is no stream of events")
    return answer


class Conversation:
    def __init__(self, url, key, token="", **options):
        """Opens a run; for the key and the options see docs/server.md."""
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        place = self.reach(f"{url}/runs/{key}", options, 1)
        self.at = lambda route: f"{url}/{route}/{key}?run={place['run']}"
        self.next = place["next"]  # position in the log of the run
        self.inputs = place["inputs"]  # number of the next input
        self.output = None
        self.events = self.listen()

    def reach(self, target, body=None, attempts=9, read=json.load):
        """Fetches; repeats what the network or a proxy fails, 9 times."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(target, data, self.headers)
        for i in range(1, attempts + 1):
            try:
                return read(urllib.request.urlopen(request, timeout=60))
            except NETWORK as x:
                code = getattr(x, "code", None)  # of an answer
                if code not in (None, 429, 502, 503, 504) or i == attempts:
                    text = x.read().decode() if code else ""
                    raise RuntimeError(f"{x} {text}") from None
            time.sleep(0.1 * 2 ** i)

    def send(self, *inputs):
        """Sends inputs. Their number says which they are if they come twice."""
        self.reach(self.at("inputs"),
                   {"inputs": inputs, "number": self.inputs})
        self.inputs += len(inputs)

    def answer(self):
        """Yields the chunks of a turn until its end."""
        for event, data in self.events:
            if event == "turnEnd":
                return
            if event == "chunks":
                yield from data

    def close(self):
        """Closes the input, and returns the output of the run."""
        if self.output is None:
            self.reach(self.at("inputs"), {"close": True})
        for _ in self.events:
            pass
        with contextlib.suppress(RuntimeError):  # the run forgets itself later
            place = f"{self.at('inputs')}&after={self.next}"
            self.reach(place, {"confirm": True}, 1)
        return self.output

    def listen(self):
        """Yields all events, from one stream after another."""
        while True:
            fields, before = {}, self.next
            target = f"{self.at('events')}&after={before}"
            stream = self.reach(target, read=stream_of)
            with contextlib.suppress(*NETWORK):  # what is cut off comes again
                for line in stream:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name:
                        fields[name] = value
                        continue
                    event, text = fields.get("event"), fields.get("data", "null")
                    if event == "error":
                        raise RuntimeError(text)
                    data = json.loads(text)
                    self.next = fields.get("id", self.next)
                    fields = {}
                    if event == "output":
                        self.output = data
                        return
                    yield event, data
            if before == self.next:
                time.sleep(0.1)
