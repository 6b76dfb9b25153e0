// SPDX-License-Identifier: BSD-3-Clause

// What Genkit's published clients hear of a server: each case calls one thing
// and returns a document about it.

import { agentTurns } from "./cases_agents.mjs";
import { chats } from "./cases_chats.mjs";
import { detachedTurns } from "./cases_detached.mjs";
import { flows } from "./cases_flows.mjs";
import { questions } from "./cases_tools.mjs";

export const cases = {
  ...flows,
  ...agentTurns,
  ...chats,
  ...questions,
  ...detachedTurns,
};
