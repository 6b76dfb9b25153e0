// SPDX-License-Identifier: BSD-3-Clause

// What Genkit's published clients hear of a server: each case calls one thing
// and returns a document about it.

import { remoteAgent, runFlow, streamFlow } from "genkit/beta/client";

const gather = async (stream) => {
  const all = [];
  for await (const x of stream) all.push(x);
  return all;
};

/** Returns what a call yields, or the error that it throws. */
const outcome = async (call) => {
  try {
    return { value: await call };
  } catch (x) {
    return { error: x.status ?? x.message, message: x.message };
  }
};

const post = async (url, body, headers = {}) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.text() };
};

const said = (text) => ({ role: "user", content: [{ text }] });

/** Takes one turn and returns everything that the client has heard. */
const turn = async (chat, input) => {
  const it = chat.sendStream(input);
  const heard = { chunks: [], output: undefined };
  try {
    for await (const chunk of it.stream) heard.chunks.push(chunk.raw);
    heard.output = (await it.response).raw;
  } catch (x) {
    await it.response.catch(() => {});
    heard.error = { status: x.status, message: x.message };
    heard.output = x.response?.raw;
  }
  heard.custom = chat.state?.custom ?? chat.state;
  heard.messages = chat.messages;
  return heard;
};

const agents = (at) => ({
  notes: remoteAgent({ url: `${at}/session-flow/notes` }),
  pocket: remoteAgent({ url: `${at}/session-flow/pocket` }),
  concierge: remoteAgent({ url: `${at}/session-flow/concierge` }),
});

export const cases = {
  // -- flows ------------------------------------------------------------------

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

  // -- states in a store ------------------------------------------------------

  take_two_turns: async (at) => {
    const chat = agents(at).notes.chat();
    return [await turn(chat, "one"), await turn(chat, "two")];
  },

  branch_from_the_first_snapshot: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const { snapshotId } = chat;
    await turn(chat, "two");
    return await turn(notes.chat({ snapshotId }), "three");
  },

  choose_the_session: async (at) => {
    const { notes } = agents(at);
    const sessionId = `mine-${crypto.randomUUID()}`;
    await turn(notes.chat({ sessionId }), "one");
    const next = await turn(notes.chat({ sessionId }), "two");
    return { same: next.output.sessionId === sessionId, next };
  },

  load_a_chat: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    await turn(chat, "two");
    const { snapshotId, sessionId } = chat;
    const byId = await notes.loadChat({ snapshotId });
    const bySession = await notes.loadChat({ sessionId });
    return [byId.messages, bySession.messages, await turn(bySession, "three")];
  },

  get_a_snapshot: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    await turn(chat, "two");
    return await notes.getSnapshot(chat.snapshotId);
  },

  get_an_unknown_snapshot: async (at) => ({
    client: (await outcome(agents(at).notes.getSnapshot("none"))).error.slice(
      0,
      20,
    ),
    status: (
      await post(`${at}/session-flow/notes/getSnapshot`, {
        data: { snapshotId: "none" },
      })
    ).status,
  }),

  get_a_snapshot_by_both_ids: async (at) => {
    const { status, body } = await post(
      `${at}/session-flow/notes/getSnapshot`,
      { data: { snapshotId: "a", sessionId: "b" } },
    );
    return { status, error: JSON.parse(body).status };
  },

  get_a_snapshot_without_a_store: async (at) => {
    const { status, body } = await post(
      `${at}/session-flow/pocket/getSnapshot`,
      { data: { snapshotId: "a" } },
    );
    return { status, error: JSON.parse(body).status };
  },

  continue_from_an_unknown_snapshot: async (at) => {
    const heard = await turn(
      agents(at).notes.chat({ snapshotId: "none" }),
      "one",
    );
    return [heard.error.status, heard.output.finishReason, heard.chunks];
  },

  continue_from_a_snapshot_of_another_session: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const { snapshotId } = chat;
    const { status, body } = await post(`${at}/session-flow/notes`, {
      data: { message: said("two") },
      init: { snapshotId, sessionId: "another" },
    });
    return { status, error: JSON.parse(body).status };
  },

  give_a_state_to_a_store: async (at) => {
    const state = { messages: [said("zero")] };
    const heard = await turn(agents(at).notes.chat({ state }), "one");
    return heard.error.status;
  },

  draw_an_artifact: (at) => turn(agents(at).notes.chat(), "draw"),

  tell_why_the_turn_ended: (at) => turn(agents(at).notes.chat(), "stop"),

  fail_the_first_turn: (at) => turn(agents(at).notes.chat(), "fail"),

  fail_a_later_turn_and_go_on: async (at) => {
    const chat = agents(at).notes.chat();
    await turn(chat, "one");
    return [await turn(chat, "fail"), await turn(chat, "two")];
  },

  // -- states of the client ---------------------------------------------------

  take_two_turns_with_a_state: async (at) => {
    const chat = agents(at).pocket.chat();
    return [await turn(chat, "one"), await turn(chat, "two")];
  },

  begin_with_a_state: (at) => {
    const state = {
      sessionId: "mine",
      messages: [said("zero")],
      custom: { words: ["zero"] },
    };
    return turn(agents(at).pocket.chat({ state }), "one");
  },

  begin_with_a_bad_state: async (at) => {
    const state = { messages: [], custom: { words: 7 } };
    const heard = await turn(agents(at).pocket.chat({ state }), "one");
    return heard.error?.status;
  },

  give_a_snapshot_without_a_store: async (at) => {
    const heard = await turn(
      agents(at).pocket.chat({ snapshotId: "a" }),
      "one",
    );
    return heard.error.status;
  },

  // The chat itself may hear the last change after the end, and keep it.
  fail_a_turn_with_a_state_and_go_on: async (at) => {
    const { pocket } = agents(at);
    const chat = pocket.chat();
    await turn(chat, "one");
    const { chunks, error, output } = await turn(chat, "fail");
    const next = await turn(pocket.chat({ state: output.state }), "two");
    return [chunks, error, output, next.output];
  },

  // -- questions of tools -----------------------------------------------------

  answer_in_place_of_a_tool: async (at) => {
    const chat = agents(at).concierge.chat();
    const asked = await chat.send("Tivoli");
    const [question] = asked.interrupts;
    return {
      reason: asked.finishReason,
      name: question.name,
      input: question.input,
      heard: await turn(chat, {
        resume: { respond: [question.respond("full")] },
      }),
    };
  },

  run_a_tool_again: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const part = question.restart();
    part.metadata = { ...part.metadata, resumed: true };
    return await turn(chat, { resume: { restart: [part] } });
  },

  run_a_tool_again_without_an_answer: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const heard = await turn(chat, {
      resume: { restart: [question.restart()] },
    });
    return [heard.error?.status, heard.output?.finishReason];
  },

  change_the_input_of_a_tool: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const part = question.restart();
    part.toolRequest = { ...part.toolRequest, input: { hotel: "Ritz" } };
    part.metadata = { ...part.metadata, resumed: true };
    const heard = await turn(chat, { resume: { restart: [part] } });
    return [heard.error.status, heard.output.finishReason];
  },

  answer_what_was_not_asked: async (at) => {
    const chat = agents(at).concierge.chat();
    await chat.send("Tivoli");
    const part = { toolResponse: { name: "pay", ref: "9", output: 1 } };
    const heard = await turn(chat, { resume: { respond: [part] } });
    return [heard.error.status, heard.output.finishReason];
  },

  // -- turns that go on by themselves -----------------------------------------

  detach_a_turn: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("wait");
    const first = await notes.getSnapshot(task.snapshotId);
    const last = await task.wait({ intervalMs: 50 });
    const next = await turn(notes.chat({ snapshotId: task.snapshotId }), "two");
    return {
      first: [first.status, typeof first.heartbeatAt],
      same: last.snapshotId === task.snapshotId,
      last: [last.status, typeof last.heartbeatAt, last.state],
      next,
    };
  },

  abort_a_detached_turn: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("sleep");
    const before = await task.abort();
    const end = await task.wait({ intervalMs: 50 });
    return [before, end.status, await task.abort()];
  },

  continue_from_a_turn_that_was_aborted: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("sleep");
    await task.abort();
    await task.wait({ intervalMs: 50 });
    const heard = await turn(
      notes.chat({ snapshotId: task.snapshotId }),
      "two",
    );
    return [heard.error?.status, heard.output?.finishReason];
  },

  detach_a_turn_that_fails: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("fail");
    const end = await task.wait({ intervalMs: 50 });
    return [end.status, end.finishReason, end.error?.status];
  },

  detach_without_a_store: async (at) => {
    const { status, body } = await post(`${at}/session-flow/pocket`, {
      data: { message: said("one"), detach: true },
      init: {},
    });
    return { status, error: JSON.parse(body).status };
  },

  abort_what_is_over: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    return [await chat.abort(), (await notes.abort("none")) ?? null];
  },

  leave_a_turn: async (at) => {
    const chat = agents(at).notes.chat();
    const it = chat.sendStream("sleep");
    setTimeout(() => it.abort(), 100);
    await gather(it.stream).catch(() => {});
    const end = await it.response.catch((x) => x.response);
    return end.finishReason;
  },
};
