// SPDX-License-Identifier: BSD-3-Clause

// Measures this server beside Genkit's published one and a bare echo, by the
// same calls of one flow, in turn. Prints a table:
//
//   node load.mjs PROGRAM HTTP_LOAD [SECONDS]

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

const path = "/genkit/bidi-flow/greet";
const body = '{"data":"Ann"}';
const servers = [
  await start("genkit", "node", reference),
  await start("echo", loader, "echo"),
  await start("tertulia", program),
];
const call = ({ port }, connections, time) =>
  JSON.parse(
    execFileSync(loader, ["call", port, path, body, `${connections}`, time]),
  );

for (const server of servers) call(server, 16, "2"); // warms up
console.log("connections server    calls/s   p50 us   p99 us  CPU us/call");
for (const connections of [1, 16, 256])
  for (const server of servers) {
    const before = timeOf(server.pid);
    const { calls, perSecond, p50, p99, failures } = call(
      server,
      connections,
      seconds,
    );
    const cpu = ((timeOf(server.pid) - before) / calls) * 1e6;
    const cells = [perSecond, p50, p99, cpu].map((x) =>
      x.toFixed(0).padStart(8),
    );
    console.log(
      `${`${connections}`.padStart(11)} ${server.name.padEnd(8)} ${cells.join(" ")}`,
    );
    if (failures) console.log(`  ${failures} calls have failed`);
  }

const ours = servers.at(-1);
const count = Number(process.env.WEB_SOCKETS ?? 5_000);
const before = memoryOf(ours.pid);
const holder = spawn(loader, [
  "hold",
  ours.port,
  "/talk/bidi-flow/greet",
  `${count}`,
]);
for await (const line of createInterface({ input: holder.stdout })) break;
const each = (memoryOf(ours.pid) - before) / count / 1024;
console.log(`${count} idle WebSockets: ${each.toFixed(1)} KiB each`);

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
process.exit(0);
