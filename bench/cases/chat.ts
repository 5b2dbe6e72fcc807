import { chatMarker } from "../upstream/answers.ts";
import type { BenchCase } from "./case.ts";

export const chatPath = "/v1/chat/completions";

export const messages = [
  { role: "system", content: "You are a terse assistant. Answer in one sentence." },
  { role: "user", content: "How much may a gateway add to a call before somebody notices?" },
];

export const chat: BenchCase = {
  name: "chat",
  title: "Chat call, not streamed",
  path: chatPath,
  upstream: "chat",
  body: (model) => JSON.stringify({ model, messages, max_tokens: 256, temperature: 0.2 }),
  expectation: { kind: "json", marker: chatMarker },
};
