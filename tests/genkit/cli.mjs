// SPDX-License-Identifier: BSD-3-Clause

// Drives a program by Genkit's published command line, in both versions of the
// reflection protocol, as a person would:
//
//   node cli.mjs PROGRAM

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = process.argv[2];
const genkit = fileURLToPath(
  new URL("node_modules/.bin/genkit", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "genkit-"));
const env = { ...process.env, HOME: folder };
delete env.GENKIT_ENV;
writeFileSync(join(folder, "package.json"), "{}");
const patience = 60_000; // milliseconds for one command
const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** Runs a command of the command line and returns what it prints. */
const run = (...words) =>
  new Promise((wake) => {
    const options = { cwd: folder, env, timeout: patience };
    execFile(genkit, words, options, (_, out, error) => wake(out + error));
  });
const quiet = ["--non-interactive", "--no-update-notification"];
const inFile = (name, value) => {
  writeFileSync(
    join(folder, name),
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return name;
};
const document = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));

const until = async (condition) => {
  const end = Date.now() + patience;
  while (!(await condition()))
    if (Date.now() > end) throw new Error(`not in time: ${condition}`);
    else await pause(50);
};

/** Runs the program until a call has ended. */
const beside = async (call) => {
  const child = spawn(program, [], {
    cwd: folder,
    env: { ...env, GENKIT_ENV: "dev" },
  });
  const runtimes = join(folder, ".genkit/runtimes");
  try {
    await until(() => existsSync(runtimes) && readdirSync(runtimes).length > 0);
    return await call();
  } finally {
    child.kill("SIGKILL");
  }
};

const tests = {
  async flow_run_starts_the_program() {
    const out = await run(
      "flow:run",
      ...quiet,
      "greet",
      '"Ann"',
      "--",
      program,
    );
    assert.match(out, /Result:\s+Hello, Ann!/);
    const trace = out.match(/Trace ID: ([0-9a-f]{32})/)[1];
    const text = await run("trace:get", ...quiet, trace, "-f", "json");
    const { spans } = JSON.parse(
      text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1),
    );
    const root = Object.values(spans).find((x) => !x.parentSpanId);
    assert.equal(root.attributes["genkit:input"], '"Ann"');
    assert.equal(root.attributes["genkit:output"], '"Hello, Ann!"');
    assert.equal(root.attributes["genkit:state"], "success");
    assert.equal(root.attributes["genkit:metadata:subtype"], "flow");
    assert.match(
      await run("trace:list", ...quiet),
      /Name:\s+greet|Name:\s+\/flow\/greet/,
    );
  },

  async flow_run_streams() {
    const out = await run(
      "flow:run",
      ...quiet,
      "count",
      "3",
      "-s",
      "--",
      program,
    );
    assert.match(out, /1\s+2\s+3\s+Result:\s+3/);
  },

  async flow_run_shows_errors() {
    const out = await run("flow:run", ...quiet, "greet", '""', "--", program);
    assert.match(out, /Code: 9/);
    assert.match(out, /nobody is there/);
    const unknown = await run("flow:run", ...quiet, "none", "1", "--", program);
    assert.doesNotMatch(unknown, /Result:/);
  },

  async flow_batch_run() {
    const input = inFile("in.json", ["Ann", "Bob"]);
    await run(
      "flow:batchRun",
      ...quiet,
      "greet",
      input,
      "--output",
      "out.json",
      "--",
      program,
    );
    assert.deepEqual(
      document("out.json").map((x) => x.output),
      ["Hello, Ann!", "Hello, Bob!"],
    );
  },

  async eval_flow() {
    const input = inFile("in.json", [{ input: "Ann" }]);
    await run(
      "eval:flow",
      ...quiet,
      "greet",
      "--input",
      input,
      "--output",
      "flow.json",
      "--force",
      "--",
      program,
    );
    const [{ output, metrics }] = document("flow.json");
    assert.equal(output, "Hello, Ann!");
    assert.equal(metrics[0].status, "PASS");
  },

  async eval_run() {
    const input = inFile("in.json", [
      { testCaseId: "1", input: "x", output: "Hello" },
      { testCaseId: "2", input: "x", output: 7 },
    ]);
    await run(
      "eval:run",
      ...quiet,
      input,
      "--output",
      "run.json",
      "--force",
      "--",
      program,
    );
    assert.deepEqual(
      document("run.json").map((x) => x.metrics[0].status),
      ["PASS", "FAIL"],
    );
  },

  async dev_test_model() {
    const file = inFile(
      "tests.yaml",
      `- model: stand-in
  tests:
    - name: asks
      input:
        messages:
          - role: user
            content:
              - text: Tivoli
      validators:
        - has-tool-request:book
`,
    );
    const out = await run(
      "dev:test-model",
      ...quiet,
      "--from-file",
      file,
      "--",
      program,
    );
    assert.match(out, /1 Passed, 0 Failed/);
  },

  async commands_find_a_program_that_runs() {
    await beside(async () => {
      assert.match(
        await run("flow:run", ...quiet, "greet", '"Ann"'),
        /Result:\s+Hello, Ann!/,
      );
      assert.match(
        await run("flow:run", ...quiet, "count", "3", "-s"),
        /1\s+2\s+3\s+Result:\s+3/,
      );
      assert.match(await run("flow:run", ...quiet, "greet", '""'), /Code: 9/);
    });
  },

  async the_developer_server_talks_to_agents() {
    const port = 4_010;
    const words = [
      "start",
      "--experimental-reflection-v2",
      "-p",
      `${port}`,
      ...quiet,
    ];
    const child = spawn(genkit, [...words, "--", program], {
      cwd: folder,
      env,
      detached: true,
    });
    const at = `http://localhost:${port}/api`;
    const post = (route, body) =>
      fetch(`${at}/${route}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const said = (text) => ({ message: { role: "user", content: [{ text }] } });
    try {
      await until(async () => {
        const list = await fetch(`${at}/listActions?input={}`).catch(() => {});
        return list?.ok && (await list.text()).includes("/flow/greet");
      });
      const once = await post("runAction", {
        key: "/agent/notes",
        input: said("one"),
        init: {},
      });
      const { result, telemetry } = await once.json();
      assert.equal(result.message.content[0].text, "Note 1: one");
      assert.match(telemetry.traceId, /^[0-9a-f]{32}$/);

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
      const lines = (await talk.text())
        .trim()
        .split("\n")
        .map((x) => JSON.parse(x));
      assert.equal(lines.filter((x) => x.turnEnd).length, 8);
      assert.equal(lines.at(-1).result.message.content[0].text, "Note 8: 8");

      const asleep = await post("streamAction", {
        key: "/agent/notes",
        input: said("sleep"),
        init: {},
      });
      const id = asleep.headers.get("X-Genkit-Trace-Id");
      assert.equal((await post("cancelAction", { traceId: id })).status, 200);
      const end = (await asleep.text())
        .trim()
        .split("\n")
        .map((x) => JSON.parse(x));
      assert.equal(end.at(-1).error.code, 1);
    } finally {
      process.kill(-child.pid, "SIGKILL");
    }
  },
};

let failed = 0;
let passed = 0;
await run("config", "set", "analyticsOptOut", "true");
for (const [name, test] of Object.entries(tests)) {
  if (!name.includes(process.argv[3] ?? "")) continue;
  try {
    await test();
    ++passed;
  } catch (x) {
    ++failed;
    console.log(`${name}: ${x.stack}`);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
