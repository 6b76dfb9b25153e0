// SPDX-License-Identifier: BSD-3-Clause

// Genkit's developer server, which talks to a program by both versions of the
// reflection protocol.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { env, folder, genkit, program, quiet } from "./command_line.mjs";
import { eventually } from "./start.mjs";

const patience = 60_000; // milliseconds for one request

const said = (text) => ({ message: { role: "user", content: [{ text }] } });

/** Runs the developer server, and the program by it, until a call has ended. */
const withServer = async (port, options, call) => {
  const words = ["start", ...options, "-p", `${port}`, ...quiet];
  const child = spawn(genkit, [...words, "--", program], {
    cwd: folder,
    env,
    detached: true,
  });
  const at = `http://localhost:${port}/api`;
  const get = (route, input) =>
    fetch(`${at}/${route}?input=${encodeURIComponent(JSON.stringify(input))}`);
  try {
    await eventually(async () => {
      const list = await get("listActions", {}).catch(() => {});
      return list?.ok && (await list.text()).includes("/flow/greet");
    });
    await call({
      get,
      post: (route, body) =>
        fetch(`${at}/${route}`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(patience),
        }),
    });
  } finally {
    process.kill(-child.pid, "SIGKILL");
  }
};

/** Returns the documents in the lines of an answer. */
const linesOf = async (response) =>
  (await response.text())
    .trim()
    .split("\n")
    .map((x) => JSON.parse(x));

const takeTurn = async ({ post }) => {
  const once = await post("runAction", {
    key: "/agent/notes",
    input: said("one"),
    init: {},
  });
  const { result, telemetry } = await once.json();
  assert.equal(result.message.content[0].text, "Note 1: one");
  assert.match(telemetry.traceId, /^[0-9a-f]{32}$/);
};

/** Takes a turn, and reads the snapshot that a span of it names (000 §10.3). */
const readSnapshot = async ({ get, post }) => {
  const run = async (call) => (await post("runAction", call)).json();
  const { result, telemetry } = await run({
    key: "/agent/notes",
    input: said("one"),
    init: {},
  });
  const { traceId } = telemetry;
  const trace = await (await get("getTrace", { traceId })).json();
  const attributes = Object.values(trace.result.data.spans)
    .map((x) => x.attributes)
    .find((x) => x["genkit:metadata:snapshotId"]);
  const snapshotId = attributes["genkit:metadata:snapshotId"];
  assert.equal(attributes["genkit:metadata:sessionFlow"], "notes");
  assert.equal(result.snapshotId, `${snapshotId}@${result.sessionId}`);
  const key = "/snapshot-store/notes/getSnapshot";
  const found = (await run({ key, input: { snapshotId } })).result;
  assert.equal(found.snapshotId, snapshotId);
  assert.equal(found.finishReason, "stop");
  assert.deepEqual(found.state.custom, { words: ["one"] });
  assert.deepEqual(
    found.state.messages.map((x) => [x.role, x.content]),
    [
      ["user", [{ text: "one" }]],
      ["model", [{ text: "Note 1: one" }]],
    ],
  );
  const none = await run({ key, input: { snapshotId: "none" } });
  assert.equal(none.error.code, 5); // NOT_FOUND
};

const streamTurn = async ({ post }) => {
  const lines = await linesOf(
    await post("streamAction", {
      key: "/agent/notes",
      input: said("one"),
      init: {},
    }),
  );
  assert.equal(lines.filter((x) => x.turnEnd).length, 1);
  assert.equal(lines.at(-1).result.message.content[0].text, "Note 1: one");
};

/** Watches the trace of a turn that goes on, and ends the turn. */
const cancelTurn = async ({ post }) => {
  const asleep = await post("streamAction", {
    key: "/agent/notes",
    input: said("sleep"),
    init: {},
  });
  const traceId = asleep.headers.get("X-Genkit-Trace-Id");
  const trace = await post("streamTrace", { traceId });
  let text = "";
  for await (const part of trace.body) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  // What is known by now, or the first span that begins.
  const { spans, span } = JSON.parse(text.split("\n")[0]);
  for (const { endTime } of span ? [span] : Object.values(spans))
    assert.equal(endTime, 0);
  assert.equal((await post("cancelAction", { traceId })).status, 200);
  assert.equal((await linesOf(asleep)).at(-1).error.code, 1);
};

const talk = async ({ post }) => {
  const talk = await post("streamAction?bidi=true", {
    key: "/agent/notes",
    init: {},
  });
  const traceId = talk.headers.get("X-Genkit-Trace-Id");
  for (const text of ["1", "2", "3", "4", "5", "6", "7", "8"]) {
    const chunk = said(text); // nobody waits for its turn
    const sent = await post("sendBidiInput", { traceId, chunk });
    assert.equal(sent.status, 200);
  }
  assert.equal((await post("endBidiInput", { traceId })).status, 200);
  const lines = await linesOf(talk);
  assert.equal(lines.filter((x) => x.turnEnd).length, 8);
  assert.equal(lines.at(-1).result.message.content[0].text, "Note 8: 8");
};

export const developerServerTests = {
  async the_developer_server_talks_to_agents() {
    const options = ["--experimental-reflection-v2"];
    await withServer(4_010, options, async (server) => {
      await takeTurn(server);
      await readSnapshot(server);
      await talk(server);
      await cancelTurn(server);
    });
  },

  async the_developer_server_finds_agents_that_announce_themselves() {
    await withServer(4_011, [], async (server) => {
      await takeTurn(server);
      await readSnapshot(server);
      await streamTurn(server);
      await cancelTurn(server);
    });
  },
};
