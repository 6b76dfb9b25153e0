# SPDX-License-Identifier: BSD-3-Clause

"""Client of a conversation behind Tertulia's HTTP server, with the standard
library only: it hears everything once, also when its network is lost."""

import contextlib
import http.client
import json
import time
import urllib.request

# ValueError: an answer that is cut off is not JSON.
NETWORK = (OSError, http.client.HTTPException, ValueError)


class Conversation:
    def __init__(self, url, key, token="", **options):
        """Opens a run; for the key and the options see docs/server.md."""
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        # next: position in the log of the run; inputs: number of the next one
        place = self.reach(f"{url}/runs/{key}", options, 1)
        vars(self).update(place, output=None)
        self.at = lambda x: f"{url}/{x}/{key}?run={self.run}&after={self.next}"
        self.events = self.listen()

    def reach(self, target, body=None, attempts=9):
        """Sends a body, or gets lines; repeats a request that is lost."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(target, data, self.headers)
        for i in range(1, attempts + 1):
            try:
                answer = urllib.request.urlopen(request, timeout=60)
                is_stream = "event" in answer.headers.get_content_type()
                return answer if is_stream else json.load(answer)
            except NETWORK as x:
                code = getattr(x, "code", 503)  # of an answer
                if i == attempts or code not in (429, 502, 503, 504):
                    raise RuntimeError(x, getattr(x, "read", bytes)()) from None
            time.sleep(0.1 * 2 ** i)

    def send(self, *inputs):
        """Sends inputs. Their number says which they are if they come twice."""
        self.reach(self.at("inputs"), dict(inputs=inputs, number=self.inputs))
        self.inputs += len(inputs)

    def answer(self):
        """Yields the chunks of a turn until its end."""
        for event, data in self.events:
            if event == "turnEnd":
                return
            yield from json.loads(data) if event == "chunks" else []

    def close(self):
        """Closes the input, and returns the output of the run."""
        if self.output is None:
            self.reach(self.at("inputs"), {"close": True})
        list(self.events)  # up to the end
        with contextlib.suppress(RuntimeError):  # the run forgets itself later
            self.reach(self.at("inputs"), {"confirm": True}, 1)
        return self.output

    def listen(self):
        """Yields all events, from one stream after another."""
        while True:
            fields, stream = {}, self.reach(self.at("events"))
            with contextlib.suppress(*NETWORK):  # what is cut off comes again
                for line in stream:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    fields[name] = value
                    if name:
                        continue
                    event, data = fields.get("event"), fields.get("data")
                    if event == "error":
                        raise RuntimeError(data)
                    self.next = fields.get("id", self.next)
                    if event == "output":
                        self.output = json.loads(data)
                        return
                    yield event, data
                    fields = {}
            time.sleep(0.2)
