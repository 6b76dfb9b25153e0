// SPDX-License-Identifier: BSD-3-Clause

// Cases of an agent that ends its turns itself, with a store.

import { agents, turn } from "./client.mjs";

export const chats = {
  take_two_turns_of_a_chat_agent: async (at) => {
    const chat = agents(at).parrot.chat();
    return [await turn(chat, "one"), await turn(chat, "two")];
  },

  continue_a_chat_agent_by_its_session: async (at) => {
    const { parrot } = agents(at);
    const sessionId = `mine-${crypto.randomUUID()}`;
    await turn(parrot.chat({ sessionId }), "one");
    return await turn(parrot.chat({ sessionId }), "two");
  },

  branch_from_a_snapshot_of_a_chat_agent: async (at) => {
    const { parrot } = agents(at);
    const chat = parrot.chat();
    await turn(chat, "one");
    const { snapshotId } = chat;
    await turn(chat, "two");
    return (await turn(parrot.chat({ snapshotId }), "three")).custom;
  },

  load_a_chat_of_a_chat_agent: async (at) => {
    const { parrot } = agents(at);
    const chat = parrot.chat();
    await turn(chat, "one");
    const { snapshotId } = chat;
    const { status, parentId, state } = await parrot.getSnapshot(snapshotId);
    const loaded = await parrot.loadChat({ snapshotId });
    return [{ status, parentId, state }, await turn(loaded, "two")];
  },

  detach_a_turn_of_a_chat_agent: async (at) => {
    const task = await agents(at).parrot.chat().detach("one");
    const { status, state } = await task.wait({ intervalMs: 20 });
    return { status, state };
  },
};
