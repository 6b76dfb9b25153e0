// SPDX-License-Identifier: BSD-3-Clause

// Cases of flows, and of durable streams.

import { runFlow, streamFlow } from "genkit/beta/client";
import { gather, outcome, post } from "./client.mjs";

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
};
