// SPDX-License-Identifier: BSD-3-Clause

import { createServer } from "node:http";
import { createRequire } from "node:module";

// CommonJS: the modules of this package do not find each other.
const require = createRequire(import.meta.url);
const { TraceDataSchema } = require("@genkit-ai/tools-common");

/** Starts a server that receives traces as Genkit's telemetry server does. */
export const receiveTraces = async () => {
  const posts = [];
  const waiting = new Set();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    if (request.method === "POST" && request.url === "/api/traces") {
      const post = JSON.parse(text);
      const { success, error } = TraceDataSchema.safeParse(post);
      posts.push({ ...post, problem: success ? undefined : error.issues });
      for (const look of waiting) look();
    }
    response.end("OK");
  });
  await new Promise((wake) => server.listen(0, "127.0.0.1", wake));

  /** Returns the spans of a trace as often as they were posted, in order. */
  const spansOf = (traceId) =>
    posts
      .filter((x) => x.traceId === traceId)
      .flatMap((x) => Object.values(x.spans));

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    posts,
    spansOf,
    /** Waits until a condition about the posts holds. */
    until: (condition) =>
      new Promise((wake) => {
        const look = () => {
          if (!condition()) return;
          waiting.delete(look);
          wake();
        };
        waiting.add(look);
        look();
      }),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
