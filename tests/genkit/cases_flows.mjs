// SPDX-License-Identifier: BSD-3-Clause

// Cases of flows, and of durable streams.

import { runFlow, streamFlow } from "genkit/beta/client";
import { gather, outcome, post, said } from "./client.mjs";

const eventStream = { Accept: "text/event-stream" };

export const flows = {
  run_flow: (at) => runFlow({ url: `${at}/bidi-flow/greet`, input: "Ann" }),

  run_flow_with_an_error: async (at) => {
    const { status, body } = await post(`${at}/bidi-flow/greet`, { data: "" });
    return { status, error: JSON.parse(body) };
  },

  run_flow_with_a_bad_input: async (at) => {
    const { status, body } = await post(`${at}/bidi-flow/greet`, { data: 7 });
    return { status, error: JSON.parse(body).status };
  },

  run_an_unknown_flow: async (at) =>
    (await post(`${at}/bidi-flow/nobody`, { data: 7 })).status,

  stream_flow: async (at) => {
    const it = streamFlow({ url: `${at}/bidi-flow/count`, input: 3 });
    return { chunks: await gather(it.stream), output: await it.output };
  },

  stream_flow_with_an_error: async (at) => {
    const it = streamFlow({ url: `${at}/bidi-flow/count`, input: 5 });
    it.output.catch(() => {});
    return {
      stream: await outcome(gather(it.stream)),
      output: await outcome(it.output),
    };
  },

  come_back_to_a_stream: async (at) => {
    const url = `${at}/bidi-flow/count?durable=true`;
    const first = streamFlow({ url, input: 3 });
    const streamId = await first.streamId;
    await gather(first.stream);
    const again = streamFlow({ url, input: null, streamId });
    return {
      hasId: streamId?.length === 36,
      chunks: await gather(again.stream),
      output: await again.output,
    };
  },

  come_back_to_an_unknown_stream: async (at) => {
    const url = `${at}/bidi-flow/count?durable=true`;
    const it = streamFlow({ url, input: 1, streamId: crypto.randomUUID() });
    it.output.catch(() => {});
    return await outcome(gather(it.stream));
  },

  // -- inputs -----------------------------------------------------------------

  run_flow_with_letters_of_every_kind: (at) =>
    runFlow({ url: `${at}/bidi-flow/greet`, input: 'Zoë "🦊" \u2028 日本\n' }),

  run_flow_with_headers_of_the_client: (at) =>
    runFlow({
      url: `${at}/bidi-flow/greet`,
      input: "Ann",
      headers: { "X-Anything": "1" },
    }),

  run_flow_without_an_input: async (at) => {
    const { status, body } = await post(`${at}/bidi-flow/greet`, {});
    return { status, error: JSON.parse(body).status };
  },

  run_flow_with_what_is_no_json: async (at) => {
    const response = await fetch(`${at}/bidi-flow/greet`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"data":',
    });
    return response.status;
  },

  run_flow_and_read_the_error: async (at) => {
    const url = `${at}/bidi-flow/greet`;
    const { message } = await outcome(runFlow({ url, input: "" }));
    const [, prefix, body] = message.match(/^(.*?: \d+: )(.*)$/);
    return { prefix, body: JSON.parse(body) };
  },

  run_an_agent_as_a_flow: (at) =>
    runFlow({
      url: `${at}/session-flow/notes`,
      input: { message: said("one") },
      init: {},
    }),

  run_an_agent_that_fails_as_a_flow: (at) =>
    outcome(
      runFlow({
        url: `${at}/session-flow/pocket`,
        input: { message: said("fail") },
        init: {},
      }),
    ),

  // -- bytes of a stream ------------------------------------------------------

  stream_flow_on_the_wire: (at) =>
    post(`${at}/bidi-flow/count`, { data: 2 }, eventStream),

  stream_flow_by_a_parameter: (at) =>
    post(`${at}/bidi-flow/count?stream=true`, { data: 2 }),

  stream_flow_by_one_of_several_types: (at) =>
    post(
      `${at}/bidi-flow/count`,
      { data: 2 },
      { Accept: "application/json, Text/Event-Stream;q=0.9" },
    ),

  stream_an_error_on_the_wire: async (at) => {
    const heard = await post(`${at}/bidi-flow/count`, { data: 5 }, eventStream);
    const [chunks, error] = heard.body.split("error: ");
    return { status: heard.status, chunks, error: JSON.parse(error) };
  },

  stream_flow_with_a_bad_input: async (at) => {
    const { status, body } = await post(
      `${at}/bidi-flow/count`,
      { data: "two" },
      eventStream,
    );
    const [event, rest] = body.split("\n\n");
    const { error } = JSON.parse(event.slice("error: ".length));
    return { status, error: error.status, rest };
  },

  stream_an_unknown_flow: async (at) =>
    (await post(`${at}/bidi-flow/nobody`, { data: 1 }, eventStream)).status,

  stream_letters_of_every_kind: async (at) => {
    const it = streamFlow({
      url: `${at}/session-flow/notes`,
      input: { message: said("Zoë 🦊 日本") },
      init: {},
    });
    return { chunks: await gather(it.stream), output: await it.output };
  },

  // -- streams that last ------------------------------------------------------

  stream_flow_that_does_not_last: async (at) => {
    const url = `${at}/bidi-flow/count`;
    const first = streamFlow({ url, input: 1 });
    const named = streamFlow({ url, input: 2, streamId: crypto.randomUUID() });
    return {
      id: await first.streamId,
      first: await gather(first.stream),
      chunks: await gather(named.stream), // a new run: nothing to come back to
      output: await named.output,
    };
  },

  come_back_to_a_stream_that_has_failed: async (at) => {
    const url = `${at}/bidi-flow/count?durable=true`;
    const first = streamFlow({ url, input: 5 });
    first.output.catch(() => {});
    const streamId = await first.streamId;
    await gather(first.stream).catch(() => {});
    const again = streamFlow({ url, input: null, streamId });
    const chunks = [];
    try {
      for await (const chunk of again.stream) chunks.push(chunk);
    } catch {}
    return { chunks, output: await outcome(again.output) };
  },

  come_back_to_a_turn: async (at) => {
    const url = `${at}/session-flow/notes?durable=true`;
    const input = { message: said("one") };
    const first = streamFlow({ url, input, init: {} });
    const streamId = await first.streamId;
    const before = await gather(first.stream);
    const again = streamFlow({ url, input: {}, init: {}, streamId });
    return {
      before,
      output: await first.output,
      chunks: await gather(again.stream),
      again: await again.output,
    };
  },

  come_back_to_a_turn_that_goes_on: async (at) => {
    const url = `${at}/session-flow/notes?durable=true`;
    const input = { message: said("wait") };
    const leaving = new AbortController();
    const first = streamFlow({
      url,
      input,
      init: {},
      abortSignal: leaving.signal,
    });
    first.output.catch(() => {});
    const streamId = await first.streamId;
    const chunks = first.stream[Symbol.asyncIterator]();
    const { value } = await chunks.next(); // the run has begun
    leaving.abort();
    await gather(first.stream).catch(() => {});
    const two = [0, 1].map(() =>
      streamFlow({ url, input: {}, init: {}, streamId }),
    );
    const heard = two.map(async (it) => ({
      chunks: await gather(it.stream),
      output: await it.output,
    }));
    return { first: value, heard: await Promise.all(heard) };
  },
};
