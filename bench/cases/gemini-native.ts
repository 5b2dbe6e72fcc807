import { geminiEventCount, streamBurstCount, streamWordCount } from "../upstream/answers.ts";
import type { BenchCase } from "./case.ts";
import { messages } from "./chat.ts";

const [system, ...turns] = messages;

/** The question of the chat cases; the model is in the path. */
const body = (): string =>
  JSON.stringify({
    systemInstruction: { parts: [{ text: system?.content }] },
    contents: turns.map(({ role, content }) => ({
      role: role === "user" ? "user" : "model",
      parts: [{ text: content }],
    })),
    generationConfig: { maxOutputTokens: 256 },
  });

/** Beside `messages-native`: the same text in Google's events. */
export const geminiNative: BenchCase = {
  name: "gemini-native",
  title: `Gemini stream of ${geminiEventCount} events with running figures, relayed (${streamBurstCount} bursts, as above)`,
  path: "/v1beta/models/google/bench-model:streamGenerateContent?alt=sse",
  upstream: "gemini",
  body,
  expectation: { kind: "gemini-stream", events: geminiEventCount, words: streamWordCount },
  proxies: ["tollgate"],
};
