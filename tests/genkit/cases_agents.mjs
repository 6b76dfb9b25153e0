// SPDX-License-Identifier: BSD-3-Clause

// Cases of agents: states in a store, and states of the client.

import { agents, outcome, post, said, turn } from "./client.mjs";

/** Waits until the clock shows another time: snapshots are ordered by it. */
const clockMoves = async () => {
  for (const before = Date.now(); Date.now() <= before + 1;)
    await new Promise((wake) => setTimeout(wake, 1));
};

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

  // -- what a turn is asked with ----------------------------------------------

  take_a_turn_without_an_init: async (at) => {
    const { status, body } = await post(`${at}/session-flow/notes`, {
      data: { message: said("one") },
    });
    const { result, status: error } = JSON.parse(body);
    return { status, result, error };
  },

  take_a_turn_without_a_message: (at) => turn(agents(at).notes.chat(), {}),

  take_a_turn_with_several_parts: (at) =>
    turn(agents(at).notes.chat(), {
      message: {
        role: "user",
        content: [
          { text: "on" },
          { media: { url: "data:,x", contentType: "text/plain" } },
          { text: "e" },
        ],
        metadata: { mine: true },
      },
    }),

  take_a_turn_with_what_is_no_message: async (at) => {
    const inputs = [{ message: 7 }, { message: { role: "none" } }, 7];
    const heard = [];
    for (const input of inputs) {
      const { status, body } = await post(`${at}/session-flow/notes`, {
        data: input,
        init: {},
      });
      heard.push([status, JSON.parse(body).status]);
    }
    return heard;
  },

  take_a_turn_with_a_message_without_content: async (at) => {
    const { status, body } = await post(`${at}/session-flow/notes`, {
      data: { message: { role: "user" } },
      init: {},
    });
    const { result, status: error } = JSON.parse(body);
    return { status, error, message: result?.message };
  },

  take_a_turn_with_a_bad_init: async (at) => {
    const heard = [];
    for (const init of [7, { snapshotId: 7 }, { state: 7 }]) {
      const { status, body } = await post(`${at}/session-flow/notes`, {
        data: { message: said("one") },
        init,
      });
      heard.push([status, JSON.parse(body).status]);
    }
    return heard;
  },

  replace_an_artifact: async (at) => {
    const chat = agents(at).notes.chat();
    await turn(chat, "draw");
    const { output } = await turn(chat, "draw");
    return { output, artifacts: chat.artifacts };
  },

  // -- sessions ---------------------------------------------------------------

  name_the_snapshot_and_its_session: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const { snapshotId, sessionId } = chat;
    return await turn(notes.chat({ snapshotId, sessionId }), "two");
  },

  continue_a_session_behind_a_failed_turn: async (at) => {
    const { notes } = agents(at);
    const sessionId = `mine-${crypto.randomUUID()}`;
    const failed = await turn(notes.chat({ sessionId }), "fail");
    const first = await turn(notes.chat({ sessionId }), "one");
    await turn(notes.chat({ sessionId }), "fail");
    const second = await turn(notes.chat({ sessionId }), "two");
    return [failed.output, first.output, second.output, second.custom];
  },

  continue_a_session_of_two_branches: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const { snapshotId, sessionId } = chat;
    await turn(chat, "two");
    await clockMoves();
    await turn(notes.chat({ snapshotId }), "three");
    const loaded = await notes.loadChat({ sessionId });
    return [
      loaded.state,
      (await turn(notes.chat({ sessionId }), "four")).custom,
    ];
  },

  get_the_snapshot_of_a_session: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    return await notes.getSnapshot({ sessionId: chat.sessionId });
  },

  get_the_snapshot_of_an_unknown_session: async (at) => {
    const { status, body } = await post(
      `${at}/session-flow/notes/getSnapshot`,
      { data: { sessionId: "nobody" } },
    );
    return { status, error: JSON.parse(body).status };
  },

  get_a_snapshot_by_no_id: async (at) => {
    const { status, body } = await post(
      `${at}/session-flow/notes/getSnapshot`,
      { data: {} },
    );
    return { status, error: JSON.parse(body).status };
  },

  load_an_unknown_chat: async (at) => {
    const { error } = await outcome(
      agents(at).notes.loadChat({ snapshotId: "none" }),
    );
    return error.slice(0, "Server returned: 404".length);
  },

  take_two_turns_of_a_session_at_a_time: async (at) => {
    const { notes } = agents(at);
    const sessionId = `mine-${crypto.randomUUID()}`;
    const first = notes.chat({ sessionId }).sendStream("wait");
    const chunks = first.stream[Symbol.asyncIterator]();
    await chunks.next(); // the turn has begun
    const second = await turn(notes.chat({ sessionId }), "two");
    while (!(await chunks.next()).done);
    const { raw } = await first.response;
    return { first: raw, second: [second.error?.status, second.chunks] };
  },

  take_two_turns_from_a_snapshot_at_a_time: async (at) => {
    const { notes } = agents(at);
    const chat = notes.chat();
    await turn(chat, "one");
    const { snapshotId } = chat;
    const both = ["wait", "three"].map((text) =>
      turn(notes.chat({ snapshotId }), text),
    );
    return (await Promise.all(both)).map((x) => [x.error, x.custom]);
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

  begin_with_artifacts: (at) => {
    const state = {
      messages: [said("zero")],
      artifacts: [
        { name: "picture", parts: [{ text: "a dog" }] },
        { name: "frame", parts: [{ text: "of wood" }], metadata: { wide: 2 } },
      ],
    };
    return turn(agents(at).pocket.chat({ state }), "draw");
  },

  abort_without_a_store: async (at) => {
    const { status, body } = await post(`${at}/session-flow/pocket/abort`, {
      data: { snapshotId: "a" },
    });
    return { status, error: JSON.parse(body).status };
  },
};
