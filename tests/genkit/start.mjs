// SPDX-License-Identifier: BSD-3-Clause

import { spawn } from "node:child_process";
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
import { createInterface } from "node:readline";
import { receiveTraces } from "./traces.mjs";

/** Starts a server, which prints its address and ends with its input. */
export const start = async (command, ...args) => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write("serve\n");
  for await (const line of createInterface({ input: child.stdout }))
    return { at: line, stop: () => child.stdin.end() };
  throw new Error(`${command} has not started`);
};

/** Returns the files in which the programs of a folder announce themselves. */
const announcements = (folder) => {
  const place = join(folder, ".genkit/runtimes");
  if (!existsSync(place)) return [];
  return readdirSync(place).map((name) => join(place, name));
};

const read = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {}; // is being written, or was removed
  }
};

/** Waits until a condition holds, and returns what it yields. */
export const eventually = async (condition) => {
  const patience = 60_000; // milliseconds
  for (const end = Date.now() + patience; Date.now() < end;) {
    const result = await condition();
    if (result) return result;
    await new Promise((wake) => setTimeout(wake, 20));
  }
  throw new Error(`not in time: ${condition}`);
};

/** Returns what a program announces, as soon as it does. */
export const announcementOf = (folder, { pid }) =>
  eventually(() =>
    announcements(folder)
      .map((file) => ({ file, ...read(file) }))
      .find((x) => x.pid === pid),
  );

/** Starts a program for Genkit's tools, in a folder of its own and with a
 * server of its own for its traces. */
export const startForTools = async (command, ...args) => {
  const folder = mkdtempSync(join(tmpdir(), "genkit-"));
  writeFileSync(join(folder, "package.json"), "{}");
  const traces = await receiveTraces();
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["pipe", "ignore", "inherit"],
    env: {
      ...process.env,
      GENKIT_ENV: "dev",
      GENKIT_ENABLE_REALTIME_TELEMETRY: "true",
      GENKIT_TELEMETRY_SERVER: traces.url,
    },
  });
  const announced = await announcementOf(folder, child);
  const url = announced.reflectionServerUrl;
  return {
    at: {
      url,
      announced,
      child,
      traces,
      isWithdrawn: () => eventually(() => !existsSync(announced.file)),
    },
    stop: () => {
      child.kill("SIGKILL");
      traces.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
