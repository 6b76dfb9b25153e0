// SPDX-License-Identifier: BSD-3-Clause

// Measures this server beside Genkit's published one and a bare echo, by the
// same calls of a flow, and of an agent whose sessions are in memory, in turn:
// with one thread and with two. Prints a table, and fails if a call fails or a
// stream is cut off:
//
//   node load.mjs PROGRAM HTTP_LOAD [SECONDS]
//
// PROGRAM is bench/http_load_server: the example itself is not optimized, and
// takes twice the time.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const [program, loader, seconds = "3"] = process.argv.slice(2);
const reference = fileURLToPath(new URL("reference.cjs", import.meta.url));
const ticks = 100; // of the clock in /proc, per second

const start = async (name, command, ...words) => {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write("serve\n");
  for await (const line of createInterface({ input: child.stdout })) {
    const port = line.match(/(\d+)(\/genkit)?$/)[1];
    return { name, port, pid: child.pid, stop: () => child.kill() };
  }
};

/** Returns the processor time of a process in seconds. */
const timeOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .split(") ")[1]
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks;
};

const memoryOf = (pid) =>
  Number(
    readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1],
  ) * 1024;

const message = { role: "user", content: [{ text: "one" }] };
const flow = { path: "/genkit/bidi-flow/greet", data: "Ann" };
const agent = { path: "/genkit/session-flow/notes", data: { message }, init: {} };
const servers = [
  await start("genkit", "node", reference),
  await start("echo", loader, "echo"),
  await start("tertulia", program),
  await start("with two", program, "2"), // threads
];
const call = ({ port }, { path, data, init }, connections, time) => {
  const body = JSON.stringify({ data, init });
  const words = [port, path, body, `${connections}`, time];
  return JSON.parse(execFileSync(loader, ["call", ...words]));
};

let failures = 0;

const median = (xs) => xs.toSorted((a, b) => a - b)[Math.floor(xs.length / 2)];

const measureOne = (server, what, connections) => {
  const before = timeOf(server.pid);
  const heard = call(server, what, connections, seconds);
  if (heard.failures)
    console.log(`  ${heard.failures} calls of ${server.name} have failed`);
  failures += heard.failures;
  const cpu = ((timeOf(server.pid) - before) / heard.calls) * 1e6;
  return { ...heard, cpu };
};

/** Measures servers one after the other, in several rounds. Prints the medians
 * for each, and returns the rounds. */
const measure = (beside, what, connections, rounds) => {
  const all = [];
  for (let i = 0; i < rounds; ++i) {
    const round = {};
    for (const server of beside)
      round[server.name] = measureOne(server, what, connections);
    all.push(round);
  }
  for (const { name } of beside) {
    const cells = ["perSecond", "p50", "p99", "cpu"].map((key) =>
      median(all.map((round) => round[name][key]))
        .toFixed(0)
        .padStart(8),
    );
    const count = `${connections}`.padStart(11);
    console.log(`${count} ${name.padEnd(8)} ${cells.join(" ")}`);
  }
  return all;
};

/** Measures all numbers of connections, and returns the rounds of 16. The
 * machine changes from second to second, so these are several. */
const measureAll = (beside, what) => {
  for (const server of beside) call(server, what, 16, "2"); // warms up
  console.log(`\n${what.path}`);
  console.log("connections server    calls/s   p50 us   p99 us  CPU us/call");
  measure(beside, what, 1, 1);
  const rounds = measure(beside, what, 16, 7);
  measure(beside, what, 256, 1);
  return rounds;
};

/** Prints a value and its goal. */
const compare = (text, value, goal, isMet) =>
  console.log(
    `${text}: ${value.toFixed(1)}, goal ${goal}${isMet ? "" : ": missed"}`,
  );

/** Prints the median of a ratio, its goal, and its limits. */
const rate = (text, ratios, goal, isMet) => {
  const range = [Math.min(...ratios), Math.max(...ratios)];
  const limits = range.map((x) => x.toFixed(1)).join(" to ");
  const value = median(ratios);
  compare(`${text} (${limits})`, value, goal, isMet(value));
};

const rateCalls = (rounds) => {
  for (const [name, text] of [
    ["tertulia", ""],
    ["with two", " with two threads"],
  ])
    rate(
      `times the calls of Genkit${text}`,
      rounds.map((x) => x[name].perSecond / x.genkit.perSecond),
      8,
      (x) => x >= 8,
    );
};

const calls = measureAll(servers, flow);
rateCalls(calls);
rate(
  "times the processor time of the echo",
  calls.map((x) => x.tertulia.cpu / x.echo.cpu),
  2.5,
  (x) => x <= 2.5,
);
const agents = servers.filter((x) => x.name !== "echo");
rateCalls(measureAll(agents, agent));

const ours = servers.find((x) => x.name === "tertulia");
const count = Number(process.env.WEB_SOCKETS ?? 10_000);
const before = memoryOf(ours.pid);
const holder = spawn(loader, [
  "hold",
  ours.port,
  "/talk/bidi-flow/greet",
  `${count}`,
]);
for await (const line of createInterface({ input: holder.stdout })) break;
const each = (memoryOf(ours.pid) - before) / count / 1024;
compare(`\nKiB for each of ${count} idle WebSockets`, each, 24, each <= 24);

// Streams while the WebSockets are held: each has a chunk for each count.
const streams = JSON.parse(
  execFileSync(loader, [
    "stream",
    ours.port,
    "/actions/bidi-flow/count",
    JSON.stringify({ inputs: [10_000] }),
    "1000",
  ]),
);
console.log(
  `${streams.streams} event streams of 10000 chunks beside them: ` +
    `${streams.seconds.toFixed(1)} s, ${streams.failures} were cut off; ` +
    `${Math.round(streams.bytes / streams.streams / 1024)} KiB each, ` +
    `${streams.errors} with the error that ends this flow`,
);
holder.kill();
for (const { stop } of servers) stop();
process.exit(failures + streams.failures > 0 ? 1 : 0);
