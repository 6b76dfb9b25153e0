// SPDX-License-Identifier: BSD-3-Clause

// Cases of tools that ask.

import { agents, turn } from "./client.mjs";

export const questions = {
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
};
