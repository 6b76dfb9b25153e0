// SPDX-License-Identifier: BSD-3-Clause

// Runs each case of cases.mjs with Genkit's published server and with
// Tertulia's, and compares what the clients hear. Where they differ, table.json
// has both and the reason; a difference without a reason, and a reason without a
// difference, is a failure.
//
//   node run.mjs PROGRAM [--record] [PATTERN]

import { readFileSync, writeFileSync } from "node:fs";
import { cases } from "./cases.mjs";
import { start } from "./start.mjs";

const flags = process.argv.slice(2).filter((x) => x.startsWith("--"));
const [program, pattern = ""] = process.argv
  .slice(2)
  .filter((x) => !x.startsWith("--"));
const tableFile = new URL("table.json", import.meta.url);
const table = JSON.parse(readFileSync(tableFile, "utf8"));

// -- what means the same ------------------------------------------------------

const idPattern =
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(@[^"\s]+)?|mine-[-0-9a-f]{36}/g;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Returns a value without what may differ: times, the order of members, empty
 * lists, and the status that Genkit writes before the message of an error. */
const plain = (x) => {
  if (typeof x === "string")
    return timePattern.test(x) ? "TIME" : x.replace(/^[A-Z_]{4,}: /, "");
  if (Array.isArray(x)) return x.map(plain);
  if (x === null || typeof x !== "object") return x;
  const members = Object.entries(x)
    .map(([name, value]) => [name, plain(value)])
    .filter(([name, value]) => {
      if (value === undefined) return false;
      if (name === "artifacts" && value.length === 0) return false;
      return name !== "metadata" || Object.keys(value).length > 0;
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
};

/** Returns a value without the snapshots that session flows note in the metadata
 * of messages. */
const withoutNotes = (x) => {
  if (Array.isArray(x)) return x.map(withoutNotes);
  if (x === null || typeof x !== "object") return x;
  const result = {};
  for (const [name, value] of Object.entries(x)) {
    result[name] = withoutNotes(value);
    if (name === "metadata" && x.role) delete result[name].snapshotId;
  }
  return result;
};

/** Returns a value with its ids numbered in the order of their first use. */
const numbered = (x) => {
  const ids = new Map();
  const text = JSON.stringify(x ?? null).replace(idPattern, (id) => {
    if (!ids.has(id)) ids.set(id, `ID${ids.size + 1}`);
    return ids.get(id);
  });
  return JSON.parse(text);
};

// -- the cases ----------------------------------------------------------------

const patience = 20_000; // milliseconds for one case

const hear = async (call, at) => {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("took too long")), patience);
  });
  try {
    const heard = await Promise.race([call(at), late]);
    return numbered(plain(withoutNotes(heard)));
  } catch (x) {
    return { thrown: String(x) };
  } finally {
    clearTimeout(timer);
  }
};

const servers = {
  genkit: await start(
    "node",
    new URL("reference.cjs", import.meta.url).pathname,
  ),
  tertulia: await start(program),
};
let failed = 0;
let passed = 0;
const fail = (name, what, heard) => {
  ++failed;
  console.log(`${name}: ${what}`);
  for (const [who, x] of Object.entries(heard))
    console.log(`  ${who}: ${JSON.stringify(x)}`);
};
for (const [name, call] of Object.entries(cases)) {
  if (!name.includes(pattern)) continue;
  const heard = {};
  for (const [who, { at }] of Object.entries(servers))
    heard[who] = await hear(call, at);
  const same = JSON.stringify(heard.genkit) === JSON.stringify(heard.tertulia);
  const known = table[name];
  if (flags.includes("--record") && !same) {
    table[name] = { reason: known?.reason ?? "", ...heard };
    continue;
  }
  if (same && known) fail(name, "is no difference any more", heard);
  else if (same) ++passed;
  else if (!known?.reason) fail(name, "differs", heard);
  else if (JSON.stringify(known.tertulia) !== JSON.stringify(heard.tertulia))
    fail(name, "is not as recorded", {
      recorded: known.tertulia,
      tertulia: heard.tertulia,
    });
  else ++passed;
}
for (const { stop } of Object.values(servers)) stop();
if (flags.includes("--record"))
  writeFileSync(tableFile, `${JSON.stringify(table, null, 2)}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
