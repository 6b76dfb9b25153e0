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
import { listenForPrograms } from "./tool_socket.mjs";
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

/** Starts a program for Genkit's tools, in a folder of its own. */
const startInFolder = (environment, command, ...args) => {
  const folder = mkdtempSync(join(tmpdir(), "genkit-"));
  writeFileSync(join(folder, "package.json"), "{}");
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["pipe", "ignore", "inherit"],
    env: { ...process.env, GENKIT_ENV: "dev", ...environment },
  });
  const stop = () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, child, stop };
};

/** Starts a program that tools find by version 1 of the reflection API, with a
 * server of its own for its traces. */
export const startForTools = async (...words) => {
  const traces = await receiveTraces();
  const environment = {
    GENKIT_ENABLE_REALTIME_TELEMETRY: "true",
    GENKIT_TELEMETRY_SERVER: traces.url,
  };
  const { folder, child, stop } = startInFolder(environment, ...words);
  const announced = await announcementOf(folder, child);
  return {
    at: {
      url: announced.reflectionServerUrl,
      announced,
      child,
      traces,
      isWithdrawn: () => eventually(() => !existsSync(announced.file)),
    },
    stop: () => {
      stop();
      traces.stop();
    },
  };
};

/** Starts a program that connects to tools by version 2 of that API. */
export const startForSocket = async (...words) => {
  const tools = await listenForPrograms();
  const environment = { GENKIT_REFLECTION_V2_SERVER: tools.url };
  const { child, stop } = startInFolder(environment, ...words);
  await tools.registration();
  return {
    at: { tools, child },
    stop: () => {
      stop();
      tools.stop();
    },
  };
};
