// SPDX-License-Identifier: BSD-3-Clause

// Cases of turns that go on without their client, and of their ends.

import { agents, gather, post, said, turn } from "./client.mjs";

/** Returns what a snapshot says beside its state. */
const withoutState = ({ state, parentId, ...rest }) => rest;

export const detachedTurns = {
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

  detach_a_turn_on_the_wire: async (at) => {
    const { status, body } = await post(
      `${at}/session-flow/notes`,
      { data: { message: said("one"), detach: true }, init: {} },
      { Accept: "text/event-stream" },
    );
    const events = body.split("\n\n").filter((x) => x);
    return [status, events.map((x) => JSON.parse(x.slice("data: ".length)))];
  },

  detach_a_later_turn: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach("two");
    return await task.wait({ intervalMs: 20 });
  },

  // Genkit's turn never ends: nothing can be waited for but some answers.
  detach_with_no_message: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach({});
    let last;
    let asked = 0;
    for await (const found of task.poll({ intervalMs: 20 })) {
      last = found;
      if (++asked === 40) break;
    }
    return [last.status, last.state];
  },

  get_a_turn_that_goes_on: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach("sleep");
    const found = await notes.getSnapshot(task.snapshotId);
    await task.abort();
    await task.wait({ intervalMs: 20 });
    return withoutState(found);
  },

  get_the_session_of_a_turn_that_goes_on: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach("sleep");
    const found = await notes.getSnapshot({ sessionId: chat.sessionId });
    await task.abort();
    await task.wait({ intervalMs: 20 });
    return [found.status, found.snapshotId === task.snapshotId];
  },

  get_a_turn_that_was_aborted: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("sleep");
    await task.abort();
    return withoutState(await task.wait({ intervalMs: 20 }));
  },

  get_a_turn_that_has_failed: async (at) => {
    const task = await agents(at).notes.chat().detach("fail");
    return withoutState(await task.wait({ intervalMs: 20 }));
  },

  continue_from_a_turn_that_goes_on: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("sleep");
    const { snapshotId } = task;
    const heard = await turn(notes.chat({ snapshotId }), "two");
    await task.abort();
    await task.wait({ intervalMs: 20 });
    return [heard.chunks, heard.error?.status, heard.output?.finishReason];
  },

  continue_from_a_turn_that_has_failed: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("fail");
    await task.wait({ intervalMs: 20 });
    const { snapshotId } = task;
    const heard = await turn(notes.chat({ snapshotId }), "two");
    return [heard.chunks, heard.error?.status, heard.output?.finishReason];
  },

  continue_the_session_of_a_turn_that_was_aborted: async (at) => {
    const { notes } = agents(at);
    const sessionId = `mine-${crypto.randomUUID()}`;
    await turn(notes.chat({ sessionId }), "one");
    const task = await notes.chat({ sessionId }).detach("sleep");
    await task.abort();
    await task.wait({ intervalMs: 20 });
    const { output, custom } = await turn(notes.chat({ sessionId }), "two");
    return [output, custom];
  },

  load_a_chat_that_goes_on: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach("sleep");
    const { snapshotId } = task;
    const { messages, state } = await notes.loadChat({ snapshotId });
    await task.abort();
    await task.wait({ intervalMs: 20 });
    return { messages, state };
  },

  load_a_chat_that_was_aborted: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const task = await chat.detach("sleep");
    await task.abort();
    await task.wait({ intervalMs: 20 });
    const { snapshotId } = task;
    return (await notes.loadChat({ snapshotId })).messages;
  },

  abort_a_turn_that_has_failed: async (at) => {
    const { notes } = agents(at);
    const task = await notes.chat().detach("fail");
    await task.wait({ intervalMs: 20 });
    return await task.abort();
  },

  abort_nothing: async (at) => {
    const { status, body } = await post(`${at}/session-flow/notes/abort`, {
      data: {},
    });
    return { status, error: JSON.parse(body).status };
  },
};
