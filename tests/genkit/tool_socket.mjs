// SPDX-License-Identifier: BSD-3-Clause

import { createRequire } from "node:module";

const { WebSocketServer } = createRequire(import.meta.url)("ws");

const deferred = () => {
  const result = {};
  result.promise = new Promise((wake) => (result.resolve = wake));
  return result;
};

/** Listens for programs as `genkit start --experimental-reflection-v2` does. */
export const listenForPrograms = async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise((wake) => server.once("listening", wake));
  const heard = []; // requests and notifications of the program
  const answers = new Map(); // what waits for an answer, by the id
  let socket;
  const started = new Map(); // what waits for a run to start, by the request
  let lastId = 0;
  let registered;
  let next = deferred();
  const say = (x) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...x }));
  const take = (x) => {
    if (x.method) heard.push(x);
    else answers.get(x.id)?.(x);
    if (x.method === "runActionState") started.get(x.params.requestId)?.(x);
    if (x.method !== "register") return;
    say({ id: x.id, result: {} });
    registered = x;
    next.resolve(x);
    next = deferred();
  };
  server.on("connection", (it) => {
    socket = it;
    it.on("message", (data) => take(JSON.parse(data)));
  });
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    heard,
    registration: async () => registered ?? (await next.promise),
    nextRegistration: () => next.promise,
    /** Sends a request; `answer` is its answer, and `state` the first notice of
     * a run. */
    ask: (method, params) => {
      const id = `${++lastId}`; // the published ids are texts
      const answer = new Promise((wake) => answers.set(id, wake));
      const state = new Promise((wake) => started.set(id, wake));
      say({ id, method, params });
      return { id, answer, state };
    },
    /** Sends a notification. */
    tell: (method, params) => say({ method, params }),
    /** Loses the connection. */
    drop: () => socket.terminate(),
    stop: () => {
      server.close();
      for (const it of server.clients) it.terminate();
    },
  };
};
