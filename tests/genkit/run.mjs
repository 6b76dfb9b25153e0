// SPDX-License-Identifier: BSD-3-Clause

// Runs each case of cases.mjs with Genkit's published server and with
// Tertulia's, and each case of cases_reflection.mjs and cases_socket.mjs with
// programs for Genkit's tools, and compares what is heard, and both with what
// table.mjs has recorded. A difference without a reason, a reason without a
// difference, and an answer of either server that is not as recorded, is a
// failure. With --record the answers heard are recorded first.
//
//   node run.mjs PROGRAM [--record] [PATTERN]

import { cases } from "./cases.mjs";
import { toolCases } from "./cases_reflection.mjs";
import { socketCases } from "./cases_socket.mjs";
import { comparable } from "./plain.mjs";
import { start, startForSocket, startForTools } from "./start.mjs";
import { problemOf, record, recorded, save, withoutCase } from "./table.mjs";

const flags = process.argv.slice(2).filter((x) => x.startsWith("--"));
const [program, pattern = ""] = process.argv
  .slice(2)
  .filter((x) => !x.startsWith("--"));
const recording = flags.includes("--record");

// -- the cases ----------------------------------------------------------------

const patience = 20_000; // milliseconds for one case

// The published client leaves the error of a stream to nobody if a case waits
// for the output only, as `detach` does. The output has the same error.
process.on("unhandledRejection", () => {});

const hear = async (call, at) => {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("took too long")), patience);
  });
  try {
    const heard = await Promise.race([call(at), late]);
    return comparable(heard);
  } catch (x) {
    return { thrown: String(x) };
  } finally {
    clearTimeout(timer);
  }
};

let failed = 0;
let passed = 0;
const fail = (name, what, heard) => {
  ++failed;
  console.log(`${name}: ${what}`);
  for (const [who, x] of Object.entries(heard))
    console.log(`  ${who}: ${JSON.stringify(x)}`);
};
const reference = new URL("reference.cjs", import.meta.url).pathname;
const suites = [
  [cases, start],
  [toolCases, startForTools],
  [socketCases, startForSocket],
];
for (const [all, begin] of suites) {
  const chosen = Object.entries(all).filter(([name]) => name.includes(pattern));
  if (chosen.length === 0) continue;
  const servers = {
    genkit: await begin("node", reference),
    tertulia: await begin(program),
  };
  for (const [name, call] of chosen) {
    const heard = {};
    for (const [who, { at }] of Object.entries(servers))
      heard[who] = await hear(call, at);
    const throws = heard.genkit?.thrown || heard.tertulia?.thrown;
    if (recording && !throws) record(name, heard);
    const problem = problemOf(name, heard);
    if (problem) fail(name, problem, { recorded: recorded(name), ...heard });
    else ++passed;
  }
  for (const { stop } of Object.values(servers)) stop();
}
const names = suites.flatMap(([all]) => Object.keys(all));
if (recording) save(names);
else
  for (const name of withoutCase(names))
    fail(name, "is recorded, but no case", {});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
