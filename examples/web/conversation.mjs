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

  /** Fetches; repeats what the network or a proxy fails, up to a minute. */
  async reach(target, body, attempts = 9, read = (x) => x.json()) {
    const init = body && { method: "POST", body: JSON.stringify(body) };
    for (let i = 1; ; await pause(100 * 2 ** i++))
      try {
        const x = await fetch(target, { headers: this.headers, ...init });
        if (x.ok) return await read(x);
        if (![429, 502, 503, 504].includes(x.status)) i = attempts;
        throw new Error(`${x.status}: ${await x.text()}`);
      } catch (problem) {
        if (i >= attempts) throw problem;
      }
  }

  /** Sends inputs. They have numbers, so those that arrive twice count once. */
  async send(...inputs) {
    const number = this.inputs;
    this.inputs += inputs.length;
    await this.reach(this.at("inputs"), { inputs, number });
  }

  /** Yields the chunks of a turn until its end. */
  async *answer() {
    for (let x; (x = (await this.events.next()).value)?.event !== "turnEnd";)
      if (!x) return;
      else if (x.event === "chunks") yield* x.data;
  }

  /** Closes the input, and returns the output of the run. */
  async close() {
    await this.reach(this.at("inputs"), { close: true });
    let last;
    for await (last of this.events);
    const place = `${this.at("inputs")}&after=${this.next}`;
    await this.reach(place, { confirm: true }, 1).catch(() => {}); // is optional
    return last.data;
  }

  /** Yields all events, from one stream after another. */
  async *listen() {
    for (let before; ; before === this.next && (await pause(100))) {
      before = this.next;
      const from = `${this.at("events")}&after=${before}`;
      const stream = await this.reach(from, null, 9, (x) => x.body);
      for await (const x of eventsOf(stream)) {
        this.next = x.id ?? this.next;
        if (x.event === "error") throw new Error(JSON.stringify(x.data));
        yield x;
        if (x.event === "output") return;
      }
    }
  }
}

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
