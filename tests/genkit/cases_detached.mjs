// SPDX-License-Identifier: BSD-3-Clause

// Cases of turns that go on without their client, and of their ends.

import { agents, gather, post, said, turn } from "./client.mjs";

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
};
