// SPDX-License-Identifier: BSD-3-Clause

// Client of a conversation behind Tertulia's HTTP server, for browsers and
// Node: it hears everything once, also when its network is lost in mid-turn.

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

export class Conversation {
  /** Opens a run; for `options` and `key` see docs/server.md. */
  static async open(url, key, options = {}, token = "") {
    const it = new Conversation();
    it.headers = token ? { Authorization: `Bearer ${token}` } : {};
    const place = await it.reach(`${url}/runs/${key}`, options, 1);
    it.at = (route) => `${url}/${route}/${key}?run=${place.run}`;
    it.next = place.next; // position in the log of the run
    it.inputs = place.inputs; // number of the next input
    it.events = it.listen();
    return it;
  }

  /** Fetches; repeats what the network or a proxy fails, 9 times. */
  async reach(target, body, attempts = 9, read = (x) => x.json()) {
    const init = { headers: this.headers };
    if (body) Object.assign(init, { method: "POST", body: JSON.stringify(body) });
    for (let i = 1; ; await pause(100 * 2 ** i++)) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), 60_000);
      try {
        const x = await fetch(target, { ...init, signal: limit.signal });
        if (x.ok) return await read(x);
        if (![429, 502, 503, 504].includes(x.status)) i = attempts;
        throw new Error(`${x.status}: ${await x.text()}`);
      } catch (problem) {
        if (i >= attempts) throw problem;
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** Sends inputs. Their number says which they are if they arrive twice. */
  async send(...inputs) {
    await this.reach(this.at("inputs"), { inputs, number: this.inputs });
    this.inputs += inputs.length;
  }

  /** Yields the chunks of a turn until its end. */
  async *answer() {
    for (let x; (x = (await this.events.next()).value)?.event !== "turnEnd";)
      if (!x) return;
      else if (x.event === "chunks") yield* x.data;
  }

  /** Closes the input, and returns the output of the run. */
  async close() {
    if (this.output === undefined)
      await this.reach(this.at("inputs"), { close: true });
    while (!(await this.events.next()).done);
    const place = `${this.at("inputs")}&after=${this.next}`;
    await this.reach(place, { confirm: true }, 1).catch(() => {}); // is optional
    return this.output;
  }

  /** Yields all events, from one stream after another. */
  async *listen() {
    for (let before; ; before === this.next && (await pause(100))) {
      before = this.next;
      const from = `${this.at("events")}&after=${before}`;
      const stream = await this.reach(from, null, 9, streamOf);
      for await (const x of eventsOf(stream)) {
        this.next = x.id ?? this.next;
        if (x.event === "error") throw new Error(JSON.stringify(x.data));
        if (x.event === "output") return void (this.output = x.data);
        yield x;
      }
    }
  }
}

/** Returns the stream of an answer; a proxy may have answered otherwise. */
const streamOf = (x) => {
  if (x.headers.get("content-type") === "text/event-stream") return x.body;
  throw new Error("the answer is no stream of events");
};

/** Yields the whole events of a stream; one that is cut off comes again. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const silence = setTimeout(() => reader.cancel(), 45_000); // of the network
    const { value } = await reader.read().catch(() => ({}));
    clearTimeout(silence);
    if (value === undefined) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const lines of events) {
      const fields = lines.split("\n").map((line) => line.split(/: (.*)/s));
      const event = Object.fromEntries(fields);
      yield { ...event, data: JSON.parse(event.data ?? "null") };
    }
  }
}
