// SPDX-License-Identifier: BSD-3-Clause

// Client of a conversation behind Tertulia's HTTP server, for browsers and
// Node: it hears everything once, also when its network is lost in mid-turn.

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** Fetches; the error says whether it may pass, as that of a proxy does. */
const reach = async (target, init) => {
  const response = await fetch(target, init);
  if (response.ok) return response;
  const { status, message } = await response
    .json()
    .catch(() => ({ status: response.status, message: response.statusText }));
  const passes = [429, 502, 503, 504].includes(response.status);
  throw Object.assign(new Error(`${status}: ${message}`), { passes });
};

export class Conversation {
  /** Opens a run; for `options` and `key` see docs/server.md. */
  static async open(url, key, options = {}, token = "") {
    const it = new Conversation();
    it.at = (route) => `${url}/${route}/${key}`;
    it.headers = token ? { Authorization: `Bearer ${token}` } : {};
    const place = await it.post(it.at("runs"), options);
    it.query = `?run=${encodeURIComponent(place.run)}`;
    it.next = place.next; // position in the log of the run
    it.inputs = place.inputs; // number of the next input
    it.events = it.listen();
    return it;
  }

  async post(target, body) {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await reach(target, { headers: this.headers, ...init });
    return await response.json();
  }

  /** Repeats what the network or a proxy has failed, up to a minute. */
  async insist(attempt) {
    for (let wait = 100; ; wait *= 2)
      try {
        return await attempt();
      } catch (x) {
        const passes = x.passes ?? x instanceof TypeError; // no network
        if (!passes || wait > 30_000) throw x;
        await pause(wait);
      }
  }

  /** Sends inputs. They have numbers, so those that arrive twice count once. */
  async send(...inputs) {
    const number = this.inputs;
    this.inputs += inputs.length;
    const body = { inputs, number };
    await this.insist(() => this.post(this.at("inputs") + this.query, body));
  }

  /** Yields the chunks of a turn until its end. */
  async *answer() {
    for (let x; (x = (await this.events.next()).value)?.event !== "turnEnd";)
      if (!x) return;
      else if (x.event === "chunks") yield* x.data;
  }

  /** Closes the input, and returns the output of the run. */
  async close() {
    const target = this.at("inputs") + this.query;
    await this.insist(() => this.post(target, { close: true }));
    for await (const x of this.events)
      if (x.event === "output") {
        const place = `${target}&after=${this.next}`;
        await this.post(place, { confirm: true }).catch(() => {}); // is optional
        return x.data;
      }
  }

  async *listen() {
    for (;;) {
      const before = this.next;
      const from = `${this.at("events")}${this.query}&after=${before}`;
      const init = { headers: this.headers };
      const response = await this.insist(() => reach(from, init));
      for await (const x of eventsOf(response.body)) {
        this.next = x.id ?? this.next;
        if (x.event === "error")
          throw new Error(`${x.data.status}: ${x.data.message}`);
        yield x;
        if (x.event === "output") return;
      }
      if (before === this.next) await pause(100);
    }
  }
}

/** Yields the whole events of a stream; one that is cut off comes again. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    const silence = setTimeout(() => reader.cancel(), 45_000); // of the network
    const end = () => ({ done: true });
    return await reader
      .read()
      .catch(end)
      .finally(() => clearTimeout(silence));
  };
  for (let text = "", part; !(part = await read()).done;) {
    const events = (text + part.value).split("\n\n");
    text = events.pop();
    for (const lines of events) {
      const fields = lines.split("\n").map((line) => line.split(/: (.*)/s));
      const event = Object.fromEntries(fields);
      yield { ...event, data: JSON.parse(event.data ?? "null") };
    }
  }
}
