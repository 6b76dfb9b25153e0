// SPDX-License-Identifier: BSD-3-Clause

// The flows and agents of examples/genkit_agents.cpp, by the published server
// of Genkit: the reference for what its clients hear. Prints its address, and
// serves until its input ends.

// CommonJS throughout: otherwise two copies of Genkit's core are loaded, which
// do not know the errors of each other.
const { expressHandler } = require("@genkit-ai/express");
const express = require("express");
const {
  InMemorySessionStore,
  InMemoryStreamManager,
  UserFacingError,
  genkit,
  z,
} = require("genkit/beta");

const ai = genkit({});
const pause = (ms, signal) =>
  new Promise((wake, fail) => {
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(new Error("aborted"));
    });
  });

const greet = ai.defineFlow(
  { name: "greet", inputSchema: z.string(), outputSchema: z.string() },
  async (name) => {
    if (!name)
      throw new UserFacingError("FAILED_PRECONDITION", "nobody is there");
    return `Hello, ${name}!`;
  },
);

const count = ai.defineFlow(
  { name: "count", inputSchema: z.number(), streamSchema: z.number() },
  async (last, { sendChunk }) => {
    for (let i = 1; i <= last; ++i) sendChunk(i);
    if (last > 3) throw new UserFacingError("OUT_OF_RANGE", "that is too far");
    return last;
  },
);

const takeNotes = (sess, { sendChunk, abortSignal }) =>
  sess.run(async (input) => {
    const text = (input.message?.content ?? []).map((x) => x.text).join("");
    sess.session.updateCustom((x) => ({ words: [...(x?.words ?? []), text] }));
    if (text === "fail")
      throw new UserFacingError("UNAVAILABLE", "the pencil is broken");
    if (text === "sleep") await pause(3_600_000, abortSignal);
    if (text === "wait") await pause(300, abortSignal);
    if (text === "draw")
      sess.session.addArtifacts([
        { name: "picture", parts: [{ text: "a cat" }] },
      ]);
    const answer = `Note ${sess.session.getCustom().words.length}`;
    sendChunk({
      modelChunk: {
        role: "model",
        index: 0,
        content: [{ text: `${answer}: ` }],
      },
    });
    sendChunk({ modelChunk: { role: "model", index: 0, content: [{ text }] } });
    sess.session.addMessages([
      { role: "model", content: [{ text: `${answer}: ${text}` }] },
    ]);
    return { finishReason: text === "stop" ? "length" : "stop" };
  });

const agentOf = (name, store) =>
  ai.defineCustomAgent(
    { name, store, stateSchema: z.object({ words: z.array(z.string()) }) },
    async (sess, options) => {
      await takeNotes(sess, options);
      const message = sess.session.getMessages().at(-1);
      return { message, artifacts: sess.session.getArtifacts() };
    },
  );

const notes = agentOf("notes", new InMemorySessionStore());
const pocket = agentOf("pocket");

const parrot = ai.defineCustomAgent(
  {
    name: "parrot",
    store: new InMemorySessionStore(),
    stateSchema: z.object({ words: z.array(z.string()) }),
  },
  async (sess, { sendChunk }) => {
    await sess.run(async (input) => {
      const { text } = input.message.content[0];
      sess.session.updateCustom((x) => ({
        words: [...(x?.words ?? []), text],
      }));
      sendChunk({
        modelChunk: { role: "model", index: 0, content: [{ text }] },
      });
      sess.session.addMessages([{ role: "model", content: [{ text }] }]);
    });
    return { message: sess.session.getMessages().at(-1) };
  },
);

ai.defineModel(
  { apiVersion: "v2", name: "stand-in", supports: { tools: true } },
  async ({ messages }, { sendChunk }) => {
    const last = messages.at(-1);
    if (!last.content[0].toolResponse) {
      const hotels = last.content[0].text.split(",");
      const content = hotels.map((hotel, i) => ({
        toolRequest: { name: "book", ref: `${i + 1}`, input: { hotel } },
      }));
      sendChunk?.({ content });
      return { message: { role: "model", content }, finishReason: "stop" };
    }
    const outputs = last.content.map((x) => x.toolResponse.output);
    const text = `The hotel: ${outputs.join(" ")}`;
    sendChunk?.({ content: [{ text }] });
    return {
      message: { role: "model", content: [{ text }] },
      finishReason: "stop",
    };
  },
);

const book = ai.defineTool(
  {
    name: "book",
    description: "Books.",
    inputSchema: z.object({ hotel: z.string() }),
    outputSchema: z.string(),
  },
  async ({ hotel }, { interrupt, resumed }) => {
    if (hotel === "Hostel") return "booked";
    if (!resumed) interrupt({ question: `Book the ${hotel}?` });
    return "booked";
  },
);

const concierge = ai.defineAgent({
  name: "concierge",
  model: "stand-in",
  tools: [book],
  store: new InMemorySessionStore(),
});

ai.defineEvaluator(
  {
    name: "greeting",
    displayName: "greeting",
    definition: "Is it a greeting?",
    isBilled: false,
  },
  async ({ testCaseId, output }) => {
    const passed = typeof output === "string" && output.startsWith("Hello");
    return {
      testCaseId,
      evaluation: {
        score: passed ? 1 : 0,
        status: passed ? "PASS" : "FAIL",
        details: { reasoning: "a greeting begins with a hello" },
      },
    };
  },
);

const app = express();
app.use(express.json());
const mount = (name, action) =>
  app.post(`/genkit/${name}`, expressHandler(action));
mount("bidi-flow/greet", greet);
// The parameter `durable` is what Tertulia has for the option of the mount.
const mountDurable = (name, action) => {
  const durable = expressHandler(action, {
    streamManager: new InMemoryStreamManager(),
  });
  const plain = expressHandler(action);
  app.post(`/genkit/${name}`, (request, response, next) =>
    (request.query.durable ? durable : plain)(request, response, next),
  );
};
mountDurable("bidi-flow/count", count);
for (const [kind, agent] of [
  ["session-flow", notes],
  ["session-flow", pocket],
  ["session-flow", concierge],
  ["agent", parrot],
]) {
  const name = `${kind}/${agent.__action.name}`;
  mountDurable(name, agent);
  mount(`${name}/getSnapshot`, agent.getSnapshotDataAction);
  mount(`${name}/abort`, agent.abortAgentAction);
}
const server = app.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}/genkit`),
);
process.stdin.resume().on("end", () => process.exit(0));
