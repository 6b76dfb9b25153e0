// SPDX-License-Identifier: BSD-3-Clause

// Cases of tools that ask.

import { agents, post, said, turn } from "./client.mjs";

const trip = "Tivoli,Ritz,Hostel";

/** Returns the responses of tools in chunks, in the order of their requests. */
const answersIn = (chunks) =>
  chunks
    .flatMap((x) => x.modelChunk?.content ?? [])
    .flatMap((x) => x.toolResponse ?? [])
    .sort((a, b) => (a.ref < b.ref ? -1 : 1));

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

  ask_a_question: (at) => turn(agents(at).concierge.chat(), "Tivoli"),

  answer_twice_from_one_snapshot: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const { snapshotId } = chat;
    const heard = [];
    for (const answer of ["full", "booked"])
      heard.push(
        await turn(concierge.chat({ snapshotId }), {
          resume: { respond: [question.respond(answer)] },
        }),
      );
    return heard;
  },

  answer_in_a_loaded_chat: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    await chat.send("Tivoli");
    const loaded = await concierge.loadChat({ snapshotId: chat.snapshotId });
    const { toolRequest, metadata } = loaded.messages.at(-1).content[0];
    const { name, ref } = toolRequest;
    const part = { toolResponse: { name, ref, output: "full" } };
    const { chunks } = await turn(loaded, { resume: { respond: [part] } });
    return { metadata, chunks, messages: loaded.messages };
  },

  get_the_snapshot_of_a_question: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    await chat.send("Tivoli");
    return await concierge.getSnapshot(chat.snapshotId);
  },

  get_the_snapshot_of_an_answer: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    await chat.resume({ respond: [question.respond("full")] });
    const { state, ...rest } = await concierge.getSnapshot(chat.snapshotId);
    return { messages: state.messages, ...rest };
  },

  answer_what_is_answered: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const resume = { respond: [question.respond("full")] };
    await chat.resume(resume);
    const heard = await turn(chat, { resume });
    return [heard.error?.status, heard.output.finishReason];
  },

  answer_with_a_message: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const heard = await turn(chat, {
      message: said("Ritz"),
      resume: { respond: [question.respond("full")] },
    });
    return [heard.error?.status, heard.output.finishReason];
  },

  say_something_else_than_an_answer: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    await chat.send("Tivoli");
    const { finishReason, interrupts } = await chat.send("Ritz");
    const { state } = await concierge.getSnapshot(chat.snapshotId);
    return { finishReason, interrupts, messages: state.messages };
  },

  answer_nothing: async (at) => {
    const chat = agents(at).concierge.chat();
    await chat.send("Tivoli");
    const heard = await turn(chat, { resume: {} });
    return [heard.error?.status, heard.output.finishReason];
  },

  answer_in_no_way_that_is_known: async (at) => {
    const chat = agents(at).concierge.chat();
    await chat.send("Tivoli");
    const { snapshotId } = chat;
    const heard = [];
    for (const resume of [7, { respond: 7 }, { respond: [{ text: "full" }] }]) {
      const { status, body } = await post(`${at}/session-flow/concierge`, {
        data: { resume },
        init: { snapshotId },
      });
      heard.push([status, JSON.parse(body).status]);
    }
    return heard;
  },

  ask_a_second_time_in_one_chat: async (at) => {
    const chat = agents(at).concierge.chat();
    const [first] = (await chat.send("Tivoli")).interrupts;
    await chat.resume({ respond: [first.respond("full")] });
    const [second] = (await chat.send("Ritz")).interrupts;
    return [
      second.input,
      await turn(chat, { resume: { respond: [second.respond("booked")] } }),
    ];
  },

  ask_in_a_detached_turn: async (at) => {
    const { concierge } = agents(at);
    const task = await concierge.chat().detach("Tivoli");
    const asked = await task.wait({ intervalMs: 20 });
    const chat = concierge.chat({ snapshotId: task.snapshotId });
    const part = { toolResponse: { name: "book", ref: "1", output: "full" } };
    const { status, finishReason, state } = asked;
    const heard = await turn(chat, { resume: { respond: [part] } });
    return { status, finishReason, messages: state.messages, heard };
  },

  answer_in_a_detached_turn: async (at) => {
    const chat = agents(at).concierge.chat();
    const [question] = (await chat.send("Tivoli")).interrupts;
    const task = await chat.detach({
      resume: { respond: [question.respond("full")] },
    });
    const { status, finishReason, state } = await task.wait({ intervalMs: 20 });
    return { status, finishReason, last: state.messages.at(-1) };
  },

  // -- several questions ------------------------------------------------------

  // The two tools ask; that of the hostel has an output, which waits.
  ask_two_questions_at_once: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    const { finishReason, interrupts } = await chat.send(trip);
    const { state } = await concierge.getSnapshot(chat.snapshotId);
    return { finishReason, interrupts, messages: state.messages };
  },

  answer_one_and_run_the_other_again: async (at) => {
    const { concierge } = agents(at);
    const chat = concierge.chat();
    const [first, second] = (await chat.send(trip)).interrupts;
    const restart = { ...second.restart(), metadata: { resumed: true } };
    const { chunks, output } = await turn(chat, {
      resume: { respond: [first.respond("full")], restart: [restart] },
    });
    const { state } = await concierge.getSnapshot(chat.snapshotId);
    return {
      answers: answersIn(chunks),
      output,
      requests: state.messages[1],
      responses: answersIn([{ modelChunk: state.messages[2] }]),
    };
  },

  answer_two_questions: async (at) => {
    const chat = agents(at).concierge.chat();
    const { interrupts } = await chat.send(trip);
    const { chunks, output } = await turn(chat, {
      resume: { respond: interrupts.map((x) => x.respond("full")) },
    });
    return { answers: answersIn(chunks), reason: output.finishReason };
  },

  answer_one_of_two_questions: async (at) => {
    const chat = agents(at).concierge.chat();
    const [first] = (await chat.send(trip)).interrupts;
    const heard = await turn(chat, {
      resume: { respond: [first.respond("full")] },
    });
    const open = heard.output.message?.content.filter(
      (x) => x.metadata?.interrupt,
    );
    return [heard.error?.status, heard.output.finishReason, open];
  },

  answer_what_has_an_output: async (at) => {
    const chat = agents(at).concierge.chat();
    const { interrupts } = await chat.send(trip);
    const third = { toolResponse: { name: "book", ref: "3", output: "no" } };
    const heard = await turn(chat, {
      resume: { respond: [...interrupts.map((x) => x.respond("full")), third] },
    });
    return [heard.error?.status, answersIn(heard.chunks)];
  },
};
