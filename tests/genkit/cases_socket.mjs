// SPDX-License-Identifier: BSD-3-Clause

// What Genkit's tools hear of a program by version 2 of the reflection API: the
// program connects to them, and each message is a document of JSON-RPC.

import { said } from "./client.mjs";

/** Returns an answer without what may differ. */
const last = ({ result, error }) => {
  if (!error) return { result };
  const { code, message, data } = error;
  return {
    code,
    message: data ? message : undefined, // others are for people
    status: data?.code,
    hasTrace: data?.details?.traceId !== undefined,
  };
};

/** Runs an action, with inputs that follow it, and returns what is heard. */
const run = async ({ tools }, call, inputs) => {
  const streamInput = inputs !== undefined;
  const it = tools.ask("runAction", { stream: true, streamInput, ...call });
  if (streamInput) await it.state; // Genkit's program takes no earlier inputs
  for (const chunk of inputs ?? [])
    tools.tell("sendInputStreamChunk", { requestId: it.id, chunk });
  if (streamInput) tools.tell("endInputStream", { requestId: it.id });
  const answer = await it.answer;
  const heard = tools.heard.filter((x) => x.params?.requestId === it.id);
  return {
    methods: heard.map((x) => x.method),
    isFirst: heard[0].params.state?.traceId.length === 32,
    chunks: heard.flatMap((x) => x.params.chunk ?? []),
    last: last(answer),
  };
};

const ask = async ({ tools }, method, params) =>
  last(await tools.ask(method, params).answer);

export const socketCases = {
  register_a_program: async ({ tools, child }) => {
    const { method, params } = await tools.registration();
    return {
      method,
      id: typeof params.id,
      isPid: params.pid === child.pid,
      version: typeof params.genkitVersion,
      specVersion: params.reflectionApiSpecVersion,
    };
  },

  list_the_actions_by_a_socket: async ({ tools }) => {
    const { result } = await tools.ask("listActions").answer;
    const { key, name, metadata } = result.actions["/agent/notes"];
    return { key, name, bidi: metadata.bidi };
  },

  list_the_values_by_a_socket: async (at) => {
    const heard = [];
    for (const type of ["defaultModel", "middleware", "prompt"])
      heard.push(await ask(at, "listValues", { type }));
    return heard;
  },

  ask_by_an_unknown_method: (at) => ask(at, "sing", {}),

  run_an_action_by_a_socket: (at) =>
    run(at, { key: "/flow/greet", input: "Ann" }),

  stream_an_action_by_a_socket: (at) =>
    run(at, { key: "/flow/count", input: 3 }),

  run_an_action_without_chunks: (at) =>
    run(at, { key: "/flow/count", input: 3, stream: false }),

  run_an_action_that_fails_by_a_socket: (at) =>
    run(at, { key: "/flow/greet", input: "" }),

  run_an_unknown_action_by_a_socket: (at) =>
    ask(at, "runAction", { key: "/flow/none", input: 1 }),

  talk_to_an_agent: (at) =>
    run(at, { key: "/agent/notes", init: {} }, [
      { message: said("one") },
      { message: said("two") },
      { message: said("three") },
    ]),

  talk_to_an_agent_from_a_snapshot: async (at) => {
    const first = await run(at, {
      key: "/agent/notes",
      input: { message: said("one") },
      init: {},
    });
    const { snapshotId } = first.last.result.result;
    return await run(at, { key: "/agent/notes", init: { snapshotId } }, [
      { message: said("two") },
    ]);
  },

  talk_until_a_turn_fails: (at) =>
    run(at, { key: "/agent/pocket", init: {} }, [
      { message: said("one") },
      { message: said("fail") },
      { message: said("two") },
    ]),

  talk_to_an_agent_that_asks: async (at) => {
    const part = { toolResponse: { name: "book", ref: "1", output: "full" } };
    const heard = await run(at, { key: "/agent/concierge", init: {} }, [
      { message: said("Tivoli") },
      { resume: { respond: [part] } },
    ]);
    return {
      ends: heard.chunks.flatMap((x) => x.turnEnd?.finishReason ?? []),
      last: heard.last,
    };
  },

  say_nothing_to_an_agent: (at) =>
    run(at, { key: "/agent/notes", init: {} }, []),

  say_to_an_agent_what_is_no_input: async (at) => {
    const { last } = await run(at, { key: "/agent/notes", init: {} }, [
      { message: 7 },
    ]);
    return last.status ?? last.result.result;
  },

  leave_an_agent_while_it_talks: async (at) => {
    const { last } = await run(at, { key: "/agent/notes", init: {} }, [
      { message: said("one"), detach: true },
    ]);
    return last.result?.result?.finishReason ?? last;
  },

  cancel_an_action_by_a_socket: async (at) => {
    const { tools } = at;
    const input = { message: said("sleep") };
    const it = tools.ask("runAction", { key: "/agent/notes", input, init: {} });
    const { traceId } = (await it.state).params.state;
    return await ask(at, "cancelAction", { traceId });
  },

  cancel_nothing_by_a_socket: (at) =>
    ask(at, "cancelAction", { traceId: "none" }),

  // The last case of its program.
  come_back_to_the_tools: async ({ tools }) => {
    const { params } = await tools.registration();
    const again = tools.nextRegistration();
    tools.drop();
    const { method, params: then } = await again;
    const { result } = await tools.ask("listValues", { type: "middleware" })
      .answer;
    return { method, isSame: then.pid === params.pid, result };
  },
};
