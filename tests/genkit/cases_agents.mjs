// SPDX-License-Identifier: BSD-3-Clause

// Cases of agents: states in a store, and states of the client.

import { agents, outcome, post, said, turn } from "./client.mjs";

export const agentTurns = {
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
};
