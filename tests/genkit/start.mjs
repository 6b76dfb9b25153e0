// SPDX-License-Identifier: BSD-3-Clause

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts a server, which prints its address and ends with its input. */
export const start = async (command, ...args) => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write("serve\n");
  for await (const line of createInterface({ input: child.stdout }))
    return { at: line, stop: () => child.stdin.end() };
  throw new Error(`${command} has not started`);
};
