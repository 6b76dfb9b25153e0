// SPDX-License-Identifier: BSD-3-Clause

// Sends each line of standard input to the agent of `tertulia serve`, and
// prints what it answers: `node chat.mjs http://127.0.0.1:8080`.

import { createInterface } from "node:readline";
import { Conversation } from "./conversation.mjs";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
const chat = await Conversation.open(url, "session-flow/chat", {}, process.env.TOKEN);
for await (const text of createInterface({ input: process.stdin })) {
  await chat.send({ messages: [{ role: "user", content: [{ text }] }] });
  for await (const chunk of chat.answer())
    for (const part of chunk.chunk?.content ?? []) process.stdout.write(part.text ?? "");
  process.stdout.write("\n");
}
await chat.close();
