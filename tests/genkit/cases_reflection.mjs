// SPDX-License-Identifier: BSD-3-Clause

// What Genkit's tools hear of a program by version 1 of the reflection API, and
// what its telemetry server receives.

import { said } from "./client.mjs";

/** Returns an answer, whose body is JSON or a text. */
const answer = async (response) => {
  const text = await response.text();
  let body = text;
  try {
    body = JSON.parse(text);
  } catch {}
  return {
    status: response.status,
    body,
    hasVersion: response.headers.has("x-genkit-version"),
  };
};

const get = async ({ url }, path) => answer(await fetch(`${url}${path}`));

const send = ({ url }, path, body) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** Returns the last document of a run without what may differ. */
const last = ({ error, ...rest }) => {
  if (!error) return rest;
  const { code, message, details } = error;
  return { ...rest, code, message, trace: details?.traceId };
};

/** Runs an action. */
const run = async (at, call) => {
  const response = await send(at, "/api/runAction", call);
  const { status, body, hasVersion } = await answer(response);
  return {
    status,
    hasVersion,
    last: last(body),
    trace: response.headers.get("x-genkit-trace-id"),
    hasSpan: response.headers.has("x-genkit-span-id"),
    type: response.headers.get("content-type")?.split(";")[0],
  };
};

/** Runs an action and returns its chunks. */
const stream = async (at, call) => {
  const response = await send(at, "/api/runAction?stream=true", call);
  const lines = (await response.text()).split("\n").map((x) => JSON.parse(x));
  return {
    type: response.headers.get("content-type")?.split(";")[0],
    chunks: lines.slice(0, -1),
    last: last(lines.at(-1)),
  };
};

/** Returns the attributes of a span that the tools read. */
const attributesOf = (span) => {
  const result = {};
  for (const name of [
    "genkit:type",
    "genkit:metadata:subtype",
    "genkit:key",
    "genkit:name",
    "genkit:isRoot",
    "genkit:input",
    "genkit:output",
    "genkit:state",
    "genkit:isFailureSource",
    "batchRun",
  ])
    result[name] = span.attributes[name];
  for (const name of ["genkit:input", "genkit:output"])
    result[name] &&= JSON.parse(result[name]);
  return result;
};

/** Returns the first post of the root of a trace that is as a condition wants. */
const rootOf = async ({ traces }, trace, condition) => {
  const find = () =>
    traces.spansOf(trace).find((x) => !x.parentSpanId && condition(x));
  await traces.until(find);
  return find();
};

const isOver = (x) => x.endTime > 0;

export const toolCases = {
  // -- the program ------------------------------------------------------------

  announce_a_program: ({ announced, child }) => {
    const { id, pid, reflectionServerUrl, timestamp } = announced;
    return {
      isId: id === `${pid}-${new URL(reflectionServerUrl).port}`,
      isPid: pid === child.pid,
      hasTime: !Number.isNaN(Date.parse(timestamp)),
      version: typeof announced.genkitVersion,
      specVersion: announced.reflectionApiSpecVersion,
    };
  },

  ask_for_the_health: async (at) => [
    await get(at, "/api/__health"),
    await get(at, `/api/__health?id=${at.announced.id}`),
    (await get(at, "/api/__health?id=another")).status,
  ],

  list_the_values: async (at) => {
    const heard = {};
    for (const type of ["defaultModel", "middleware", "prompt"]) {
      const { status, body } = await get(at, `/api/values?type=${type}`);
      heard[type] = status === 200 ? [status, body] : status;
    }
    return { ...heard, none: (await get(at, "/api/values")).status };
  },

  list_the_environments: (at) => get(at, "/api/envs"),

  notify_a_program: async (at) =>
    answer(
      await send(at, "/api/notify", {
        telemetryServerUrl: "http://127.0.0.1:1", // it has one already
        reflectionApiSpecVersion: 1,
      }),
    ),

  list_the_actions: async (at) => {
    const { status, body, hasVersion } = await get(at, "/api/actions");
    const heard = {};
    for (const key of [
      "/flow/greet",
      "/flow/count",
      "/agent/notes",
      "/agent/pocket",
      "/agent/concierge",
      "/agent-snapshot/notes",
      "/agent-snapshot/pocket",
      "/agent-abort/notes",
      "/model/stand-in",
      "/tool/book",
      "/evaluator/greeting",
    ]) {
      const { name, metadata, inputSchema, ...rest } = body[key] ?? {};
      heard[key] = {
        name,
        isKey: rest.key === key,
        bidi: metadata?.bidi,
        stateManagement: metadata?.agent?.stateManagement,
        abortable: metadata?.agent?.abortable,
        state: Object.keys(metadata?.agent?.stateSchema?.properties ?? {}),
        type: metadata?.type,
        evaluator: metadata?.evaluator?.evaluatorDefinition,
        supportsTools: metadata?.model?.supports?.tools,
        input: inputSchema?.type?.replace("integer", "number"),
      };
    }
    return { status, hasVersion, heard };
  },

  // -- runs -------------------------------------------------------------------

  run_an_action: (at) => run(at, { key: "/flow/greet", input: "Ann" }),

  run_an_unknown_action: async (at) => {
    const response = await send(at, "/api/runAction", { key: "/flow/none" });
    return response.status;
  },

  run_an_action_that_fails: (at) => run(at, { key: "/flow/greet", input: "" }),

  run_an_action_with_a_bad_input: async (at) => {
    const { status, last } = await run(at, { key: "/flow/greet", input: 7 });
    return [status, last.code, typeof last.trace];
  },

  stream_an_action: (at) => stream(at, { key: "/flow/count", input: 3 }),

  stream_an_action_that_fails: (at) =>
    stream(at, { key: "/flow/count", input: 4 }),

  stream_a_turn: (at) =>
    stream(at, {
      key: "/agent/notes",
      input: { message: said("draw") },
      init: {},
    }),

  stream_a_turn_that_fails: async (at) => {
    const { last } = await stream(at, {
      key: "/agent/pocket",
      input: { message: said("fail") },
      init: { state: { messages: [], custom: { words: ["zero"] } } },
    });
    return last;
  },

  run_a_turn_of_another_kind_of_state: (at) =>
    run(at, {
      key: "/agent/pocket",
      input: { message: said("one") },
      init: { snapshotId: "a" },
    }).then(({ status, last }) => [status, last.code]),

  run_the_companions_of_an_agent: async (at) => {
    const input = { message: said("one") };
    const once = await run(at, { key: "/agent/notes", input, init: {} });
    const { snapshotId, sessionId } = once.last.result;
    const found = {};
    for (const lookup of [{ snapshotId }, { sessionId }]) {
      const call = { key: "/agent-snapshot/notes", input: lookup };
      const { result } = (await run(at, call)).last;
      found[Object.keys(lookup)[0]] = [result.status, result.state];
    }
    const key = "/agent-abort/notes";
    const abort = await run(at, { key, input: { snapshotId } });
    const none = await run(at, {
      key: "/agent-snapshot/notes",
      input: { snapshotId: "none" },
    });
    return { found, abort: abort.last, none: [none.status, none.last.code] };
  },

  detach_a_turn_of_the_tools: async (at) => {
    const input = { message: said("one"), detach: true };
    const { result } = (await run(at, { key: "/agent/notes", input, init: {} }))
      .last;
    const { snapshotId } = result;
    const call = { key: "/agent-snapshot/notes", input: { snapshotId } };
    for (;;) {
      const found = (await run(at, call)).last.result;
      if (found.status !== "pending")
        return { result, status: found.status, state: found.state };
    }
  },

  run_a_model: async (at) => {
    const call = {
      key: "/model/stand-in",
      input: {
        messages: [
          { role: "system", content: [{ text: "Be brief." }] },
          said("Tivoli"),
        ],
        config: { temperature: 0 },
      },
    };
    const { message, finishReason } = (await run(at, call)).last.result;
    return { message, finishReason };
  },

  run_a_tool: (at) =>
    run(at, { key: "/tool/book", input: { hotel: "Hostel" } }),

  run_an_evaluator: async (at) => {
    const call = {
      key: "/evaluator/greeting",
      input: {
        dataset: [
          { testCaseId: "1", input: "x", output: "Hello" },
          { testCaseId: "2", input: "x", output: 7 },
        ],
        evalRunId: "run",
      },
    };
    const { result } = (await run(at, call)).last;
    return result.map(({ testCaseId, evaluation }) => [testCaseId, evaluation]);
  },

  cancel_an_action: async (at) => {
    const call = {
      key: "/agent/notes",
      input: { message: said("sleep") },
      init: {},
    };
    const response = await send(at, "/api/runAction?stream=true", call);
    const traceId = response.headers.get("x-genkit-trace-id");
    const end = await answer(await send(at, "/api/cancelAction", { traceId }));
    await response.body.cancel(); // Genkit's turn does not end by this
    return end;
  },

  cancel_an_action_that_is_over: async (at) => {
    const { trace } = await run(at, { key: "/flow/greet", input: "Ann" });
    const heard = [];
    for (const body of [{ traceId: trace }, { traceId: "none" }, {}])
      heard.push(await answer(await send(at, "/api/cancelAction", body)));
    return heard;
  },

  // -- traces -----------------------------------------------------------------

  trace_an_action: async (at) => {
    const { trace } = await run(at, {
      key: "/flow/greet",
      input: "Ann",
      telemetryLabels: { batchRun: "b1" },
    });
    const span = await rootOf(at, trace, isOver);
    const post = at.traces.posts.find(
      (x) => x.traceId === trace && x.displayName,
    );
    return {
      attributes: attributesOf(span),
      hasTimes: post.startTime > 0 && span.endTime >= span.startTime,
    };
  },

  trace_an_action_that_fails: async (at) => {
    const { trace } = await run(at, { key: "/flow/greet", input: "" });
    const span = await rootOf(at, trace, isOver);
    const [{ annotation }] = span.timeEvents.timeEvent;
    return {
      attributes: attributesOf(span),
      status: span.status,
      event: annotation.description,
      message: annotation.attributes["exception.message"],
    };
  },

  trace_a_turn_that_goes_on: async (at) => {
    const call = {
      key: "/agent/notes",
      input: { message: said("sleep") },
      init: {},
    };
    const response = await send(at, "/api/runAction?stream=true", call);
    const trace = response.headers.get("x-genkit-trace-id");
    const span = await rootOf(at, trace, () => true);
    await response.body.cancel();
    const { "genkit:type": type, "genkit:metadata:subtype": subtype } =
      span.attributes;
    return { endTime: span.endTime, type, subtype };
  },

  trace_a_turn: async (at) => {
    const { trace, last } = await run(at, {
      key: "/agent/notes",
      input: { message: said("one") },
      init: {},
    });
    const { sessionId, snapshotId } = last.result;
    const root = await rootOf(at, trace, isOver);
    const all = at.traces.spansOf(trace).filter(isOver);
    const has = (name, value) => all.some((x) => x.attributes[name] === value);
    return {
      attributes: attributesOf(root),
      session: has("genkit:metadata:agent:sessionId", sessionId),
      snapshot: has("genkit:metadata:agent:snapshotId", snapshotId),
      hasStep: all.some((x) => x.attributes["genkit:type"] === "flowStep"),
    };
  },

  send_traces_as_the_schema_says: async (at) => {
    const { trace } = await run(at, { key: "/flow/greet", input: "Ann" });
    await rootOf(at, trace, isOver);
    return at.traces.posts.flatMap((x) => x.problem ?? []);
  },

  // -- the end ----------------------------------------------------------------

  // The web server of Genkit's program goes on.
  end_a_program: async (at) => {
    const heard = await get(at, "/api/__quitquitquit");
    await at.isWithdrawn();
    return heard;
  },
};
