// SPDX-License-Identifier: BSD-3-Clause

// Drives a program by Genkit's published command line, in both versions of the
// reflection protocol, as a person would:
//
//   node cli.mjs PROGRAM

import assert from "node:assert/strict";
import {
  beside,
  cleanUp,
  document,
  inFile,
  program,
  run,
} from "./command_line.mjs";
import { developerServerTests } from "./developer_server.mjs";

// -- commands -----------------------------------------------------------------

// Each takes the words that end a command: those that start the program, or
// none for a program that runs.

const started = ["--", program];

const greetPeople = async (label, ...end) => {
  const input = inFile("in.json", ["Ann", "Bob"]);
  const words = ["greet", input, "--output", "out.json", "--label", label];
  await run("flow:batchRun", ...words, ...end);
  assert.deepEqual(
    document("out.json").map((x) => x.output),
    ["Hello, Ann!", "Hello, Bob!"],
  );
};

const scoreFlow = async (...end) => {
  const input = inFile("in.json", [{ input: "Ann" }]);
  const words = ["greet", "--input", input, "--output", "flow.json", "--force"];
  await run("eval:flow", ...words, ...end);
  const [{ output, metrics, traceIds }] = document("flow.json");
  assert.equal(output, "Hello, Ann!");
  assert.equal(metrics[0].status, "PASS");
  assert.match(traceIds[0], /^[0-9a-f]{32}$/);
};

const scoreOutputs = async (...end) => {
  const input = inFile("in.json", [
    { testCaseId: "1", input: "x", output: "Hello" },
    { testCaseId: "2", input: "x", output: 7 },
  ]);
  await run("eval:run", input, "--output", "run.json", "--force", ...end);
  assert.deepEqual(
    document("run.json").map((x) => x.metrics[0].status),
    ["PASS", "FAIL"],
  );
};

const testModel = async (...end) => {
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
  const out = await run("dev:test-model", "--from-file", file, ...end);
  assert.match(out, /1 Passed, 0 Failed/);
};

/** Checks what the command line shows of the trace of a greeting. */
const readTrace = async (trace) => {
  const text = await run("trace:get", trace, "-f", "json");
  const { spans } = JSON.parse(
    text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1),
  );
  const root = Object.values(spans).find((x) => !x.parentSpanId);
  assert.equal(root.attributes["genkit:input"], '"Ann"');
  assert.equal(root.attributes["genkit:output"], '"Hello, Ann!"');
  assert.equal(root.attributes["genkit:state"], "success");
};

const traceIn = (out) => out.match(/Trace ID: ([0-9a-f]{32})/)[1];

// -- tests --------------------------------------------------------------------

const tests = {
  async flow_run_starts_the_program() {
    const out = await run("flow:run", "greet", '"Ann"', ...started);
    assert.match(out, /Result:\s+Hello, Ann!/);
    await readTrace(traceIn(out));
    assert.match(
      await run("trace:list"),
      /Name:\s+greet|Name:\s+\/flow\/greet/,
    );
  },

  async flow_run_streams() {
    const out = await run("flow:run", "count", "3", "-s", ...started);
    assert.match(out, /1\s+2\s+3\s+Result:\s+3/);
  },

  async flow_run_shows_errors() {
    const out = await run("flow:run", "greet", '""', ...started);
    assert.match(out, /Code: 9/);
    assert.match(out, /nobody is there/);
    const unknown = await run("flow:run", "none", "1", ...started);
    assert.doesNotMatch(unknown, /Result:/);
  },

  flow_batch_run: () => greetPeople("started", ...started),

  eval_flow: () => scoreFlow(...started),

  eval_run: () => scoreOutputs(...started),

  dev_test_model: () => testModel(...started),

  async commands_find_a_program_that_runs() {
    await beside(async () => {
      const out = await run("flow:run", "greet", '"Ann"');
      assert.match(out, /Result:\s+Hello, Ann!/);
      await readTrace(traceIn(out));
      assert.match(
        await run("flow:run", "count", "3", "-s"),
        /1\s+2\s+3\s+Result:\s+3/,
      );
      const failed = await run("flow:run", "greet", '""');
      assert.match(failed, /Code: 9/);
      const list = await run("trace:list", "--status", "error");
      assert.ok(list.includes(traceIn(failed)), list);
      assert.ok(!list.includes(traceIn(out)), list);
    });
  },

  async batches_and_scores_find_a_program_that_runs() {
    await beside(async () => {
      await greetPeople("found");
      await scoreFlow();
      await scoreOutputs();
      await testModel();
    });
    const words = ["greet", "--label", "found", "--output", "data.json"];
    await run("eval:extractData", ...words);
    assert.deepEqual(
      document("data.json")
        .map((x) => x.output)
        .sort(),
      ["Hello, Ann!", "Hello, Bob!"],
    );
  },

  ...developerServerTests,
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
cleanUp();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
