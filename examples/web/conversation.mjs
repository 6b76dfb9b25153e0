// SPDX-License-Identifier: BSD-3-Clause

// Client of a conversation behind Tertulia's HTTP server, for browsers and
// Node: it hears everything once, also when its network is lost in mid-turn.

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

export class Conversation {
  /** Opens a run; for `options` and `key` see docs/server.md. */
  static async open(url, key, options = {}, token = "") {
    const it = new Conversation();
    it.common = token ? { headers: { Authorization: `Bearer ${token}` } } : {};
    // `next`: position in the log of the run; `inputs`: number of the next one.
    Object.assign(it, await it.reach(`${url}/runs/${key}`, options, 1));
    it.at = (x) => `${url}/${x}/${key}?run=${it.run}&after=${it.next}`;
    it.all = it.listen();
    return it;
  }

  /** Sends a body, or gets events; repeats a request that is lost. */
  async reach(target, body, attempts = 9) {
    const what = body && { method: "POST", body: JSON.stringify(body) };
    for (let i = 1; ; await pause(100 * 2 ** i++))
      try {
        // Browsers and Node watch streams themselves.
        const signal = body && AbortSignal.timeout(60_000);
        const answer = await fetch(target, { ...this.common, ...what, signal });
        const isStream = /event/.test(answer.headers.get("content-type"));
        if (answer.ok) return isStream ? eventsOf(answer) : await answer.json();
        if (![429, 502, 503, 504].includes(answer.status)) i = attempts;
        throw new Error(`${answer.status}: ${await answer.text()}`);
      } catch (problem) {
        if (i >= attempts) throw problem;
      }
  }

  /** Sends inputs. Their number says which they are if they arrive twice. */
  async send(...inputs) {
    await this.reach(this.at("inputs"), { inputs, number: this.inputs });
    this.inputs += inputs.length;
  }

  /** Yields the chunks of a turn until its end. */
  async *answer() {
    for (let x; (x = (await this.all.next()).value) && x.event !== "turnEnd";)
      if (x.event === "chunks") yield* JSON.parse(x.data);
  }

  /** Closes the input, and returns the output of the run. */
  async close() {
    if (this.output === undefined)
      await this.reach(this.at("inputs"), { close: true });
    while (!(await this.all.next()).done);
    await this.reach(this.at("inputs"), { confirm: true }, 1).catch(() => {});
    return this.output;
  }

  /** Yields all events, from one stream after another. */
  async *listen() {
    for (; ; await pause(200))
      for await (const x of await this.reach(this.at("events"))) {
        this.next = x.id ?? this.next;
        if (x.event === "error") throw new Error(x.data);
        if (x.event === "output")
          return void (this.output = JSON.parse(x.data));
        yield x;
      }
  }
}

/** Yields the events of a stream but the one in which it is cut off. */
async function* eventsOf({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "", x; (x = await reader.read().catch(() => ({}))).value;) {
    const all = (text + x.value).split("\n\n");
    text = all.pop();
    for (const one of all)
      yield Object.fromEntries(one.split("\n").map((x) => x.split(/: (.*)/s)));
  }
}
