// SPDX-License-Identifier: BSD-3-Clause

// A browser talks to `tertulia serve` by examples/web/conversation.mjs, loses
// its network in the middle of an answer, comes back, and misses nothing:
//
//   node run.mjs TERTULIA CHROMIUM

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [tertulia, chromium, modules] = process.argv.slice(2);
const { WebSocket } = createRequire(join(resolve(modules), "x.js"))("ws");
const folder = mkdtempSync(join(tmpdir(), "browser-"));
const children = [];
const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

const lineOf = async (stream, pattern) => {
  for await (const line of createInterface({ input: stream }))
    if (pattern.test(line)) return line.match(pattern)[0];
  throw new Error(`no line like ${pattern}`);
};

const start = (command, words, stream) => {
  const stdio = ["ignore", "pipe", "pipe"];
  const child = spawn(command, words, { stdio });
  children.push(child);
  return child[stream];
};

/** Serves the page and the client. */
const servePage = async () => {
  const files = {
    "/": ["text/html", new URL("page.html", import.meta.url)],
    "/conversation.mjs": [
      "text/javascript",
      new URL("../../examples/web/conversation.mjs", import.meta.url),
    ],
  };
  const server = createServer((request, response) => {
    const [type, file] = files[request.url] ?? [];
    response.writeHead(file ? 200 : 404, {
      "Content-Type": type ?? "text/plain",
    });
    response.end(file ? readFileSync(file) : "");
  });
  await new Promise((wake) => server.listen(0, "127.0.0.1", wake));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
};

/** Slow network in front of a server, which can be lost: the developer tools
 * of a browser do not cut what is under way. */
class Network {
  static async before(url) {
    const it = new Network();
    it.sockets = new Set();
    const { hostname, port } = new URL(url);
    const proxy = createProxy((near) => it.join(near, connect(port, hostname)));
    await new Promise((wake) => proxy.listen(0, "127.0.0.1", wake));
    proxy.unref();
    it.url = `http://127.0.0.1:${proxy.address().port}`;
    return it;
  }

  join(near, far) {
    for (const x of [near, far]) {
      this.sockets.add(x);
      x.on("error", () => {}).on("close", () => this.sockets.delete(x));
    }
    if (this.isLost) return this.lose();
    near.pipe(far);
    far.on("data", (bytes) => {
      near.write(bytes);
      if (!this.isSlow) return;
      far.pause();
      setTimeout(() => far.resume(), bytes.length / 20); // 20 KB in a second
    });
    far.on("end", () => near.end());
  }

  lose() {
    this.isLost = true;
    for (const x of this.sockets) x.destroy();
  }
}

/** Page of a browser, driven by the protocol of its developer tools. */
class Page {
  static async open(url) {
    const words = ["--headless=new", "--no-sandbox", "--disable-gpu"];
    words.push(
      "--remote-debugging-port=0",
      `--user-data-dir=${folder}/profile`,
    );
    const error = start(chromium, [...words, "about:blank"], "stderr");
    const it = new Page();
    it.socket = new WebSocket(await lineOf(error, /ws:\/\/\S+/));
    await new Promise((wake) => it.socket.once("open", wake));
    it.waiting = new Map();
    it.requests = [];
    it.socket.on("message", (text) => it.take(JSON.parse(text)));
    const { targetId } = await it.call("Target.createTarget", {
      url: "about:blank",
    });
    const to = { targetId, flatten: true };
    it.sessionId = (await it.call("Target.attachToTarget", to)).sessionId;
    await it.call("Network.enable", {});
    await it.call("Page.navigate", { url });
    while ((await it.run("document.title")) !== "ready") await pause(20);
    return it;
  }

  take(message) {
    if (message.method === "Network.requestWillBeSent")
      this.requests.push(message.params.request.url);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.error) waiting.fail(new Error(message.error.message));
    else waiting.wake(message.result);
  }

  call(method, params) {
    const id = (this.number = (this.number ?? 0) + 1);
    const { sessionId } = this;
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((wake, fail) => this.waiting.set(id, { wake, fail }));
  }

  async run(expression) {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.call(
      "Runtime.evaluate",
      options,
    );
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  offline(offline) {
    const all = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    return this.call("Network.emulateNetworkConditions", { offline, ...all });
  }
}

try {
  const origin = await servePage();
  const words = ["serve", "--port", "0", "--origin", origin, "--quiet"];
  const out = start(
    tertulia,
    [...words, "--store", `${folder}/store.db`],
    "stdout",
  );
  const url = await lineOf(out, /http:\/\/[^\s]+/);

  const text = `I am tired of ${"very ".repeat(1_500)}long days`;
  const whole = await fetch(`${url}/actions/session-flow/chat`, {
    method: "POST",
    body: JSON.stringify({
      inputs: [{ messages: [{ role: "user", content: [{ text }] }] }],
    }),
  });
  const { output } = await whole.json();
  const expected = output.state.messages.at(-1).content[0].text;
  assert.ok(expected.length > 1_000);

  const page = await Page.open(origin);
  const network = await Network.before(url);
  network.isSlow = true;
  const said = page.run(
    `talk(${JSON.stringify(network.url)}, ${JSON.stringify(text)})`,
  );
  const heard = () => page.run("heard.join('').length");
  while ((await heard()) === 0) await pause(20);
  await page.offline(true);
  network.lose();
  const before = await heard();
  assert.ok(before < expected.length, "the network was lost too late");
  await pause(1_500);
  assert.ok((await heard()) < expected.length);
  network.isLost = network.isSlow = false;
  await page.offline(false);
  assert.equal(await said, expected);
  const streams = page.requests.filter((x) => x.includes("/events/"));
  assert.ok(streams.length > 1, "the client has not come back");
  console.log(
    `heard ${before} of ${expected.length} characters, then the rest`,
  );
  console.log("1 passed, 0 failed");
} finally {
  for (const child of children) child.kill();
  await pause(300);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
