// SPDX-License-Identifier: BSD-3-Clause

// Genkit's published command line, in a folder of its own.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { announcementOf } from "./start.mjs";

export const program = process.argv[2];
export const genkit = fileURLToPath(
  new URL("node_modules/.bin/genkit", import.meta.url),
);
export const folder = mkdtempSync(join(tmpdir(), "genkit-"));
export const env = { ...process.env, HOME: folder };
delete env.GENKIT_ENV;
writeFileSync(join(folder, "package.json"), "{}");
const patience = 60_000; // milliseconds for one command

export const quiet = ["--non-interactive", "--no-update-notification"];

/** Runs a command of the command line and returns what it prints. */
export const run = (name, ...words) =>
  new Promise((wake) => {
    const options = { cwd: folder, env, timeout: patience };
    execFile(genkit, [name, ...quiet, ...words], options, (_, out, error) =>
      wake(out + error),
    );
  });

/** Writes a file for a command. */
export const inFile = (name, value) => {
  writeFileSync(
    join(folder, name),
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return name;
};

/** Returns what a command has written into a file. */
export const document = (name) =>
  JSON.parse(readFileSync(join(folder, name), "utf8"));

/** Runs the program until a call has ended. */
export const beside = async (call) => {
  const child = spawn(program, [], {
    cwd: folder,
    env: { ...env, GENKIT_ENV: "dev" },
  });
  try {
    await announcementOf(folder, child);
    return await call();
  } finally {
    child.kill("SIGKILL");
  }
};

/** Removes what the commands have written. */
export const cleanUp = () => rmSync(folder, { recursive: true, force: true });
