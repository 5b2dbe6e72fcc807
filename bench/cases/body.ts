import { chatMarker } from "../upstream/answers.ts";
import type { BenchCase } from "./case.ts";
import { chatPath } from "./chat.ts";

export const bodyBytes = 2 ** 20;
const messageLength = 16_000;

/** Prose that makes JSON costly to read: escaped quotes and line ends, letters outside ASCII. */
const paragraph = 'The caller said: "keep every word", and the gateway did.\nNaïve façades — naturally — cost more.\n';

function longConversation(model: string): string {
  const content = paragraph.repeat(Math.ceil(messageLength / paragraph.length)).slice(0, messageLength);
  const messages: { role: string; content: string }[] = [];
  const message = { role: "user", content };
  const bytesAMessage = Buffer.byteLength(JSON.stringify(message)) + 1;
  while ((messages.length + 1) * bytesAMessage < bodyBytes) messages.push(message);
  return JSON.stringify({ model, messages, max_tokens: 256 });
}

export const body: BenchCase = {
  name: "body",
  title: "Chat call with a 1 MB request body, not streamed",
  path: chatPath,
  upstream: "chat",
  body: longConversation,
  expectation: { kind: "json", marker: chatMarker },
};
