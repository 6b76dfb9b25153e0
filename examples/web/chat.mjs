// SPDX-License-Identifier: BSD-3-Clause

// Sends each line of standard input to the agent of `tertulia serve`, and
// prints what it answers: `node chat.mjs http://127.0.0.1:8080`.

import { createInterface } from "node:readline";
import { Conversation } from "./conversation.mjs";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
const options = { grace: "PT1H" }; // of the next line
const token = process.env.TOKEN;
const chat = await Conversation.open(url, "session-flow/chat", options, token);
for await (const text of createInterface({ input: process.stdin })) {
  await chat.send({ messages: [{ role: "user", content: [{ text }] }] });
  for await (const chunk of chat.answer())
    for (const part of chunk.chunk?.content ?? [])
      process.stdout.write(part.text ?? "");
  process.stdout.write("\n");
}
await chat.close();
