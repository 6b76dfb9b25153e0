// SPDX-License-Identifier: BSD-3-Clause

// Calls of a server that the cases share.

import { remoteAgent } from "genkit/beta/client";

export const gather = async (stream) => {
  const all = [];
  for await (const x of stream) all.push(x);
  return all;
};

/** Returns what a call yields, or the error that it throws. */
export const outcome = async (call) => {
  try {
    return { value: await call };
  } catch (x) {
    return { error: x.status ?? x.message, message: x.message };
  }
};

export const post = async (url, body, headers = {}) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.text() };
};

export const said = (text) => ({ role: "user", content: [{ text }] });

/** Takes one turn and returns everything that the client has heard. */
export const turn = async (chat, input) => {
  const it = chat.sendStream(input);
  const heard = { chunks: [], output: undefined };
  try {
    for await (const chunk of it.stream) heard.chunks.push(chunk.raw);
    heard.output = (await it.response).raw;
  } catch (x) {
    await it.response.catch(() => {});
    heard.error = { status: x.status, message: x.message };
    heard.output = x.response?.raw;
  }
  heard.custom = chat.state?.custom ?? chat.state;
  heard.messages = chat.messages;
  return heard;
};

export const agents = (at) => ({
  notes: remoteAgent({ url: `${at}/session-flow/notes` }),
  pocket: remoteAgent({ url: `${at}/session-flow/pocket` }),
  concierge: remoteAgent({ url: `${at}/session-flow/concierge` }),
  parrot: remoteAgent({ url: `${at}/agent/parrot` }),
});
