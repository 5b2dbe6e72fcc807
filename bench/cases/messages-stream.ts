import { messagesEventCount, streamBurstCount, streamEventCount, streamWordCount } from "../upstream/answers.ts";
import type { BenchCase } from "./case.ts";
import { messages } from "./chat.ts";
import { stream } from "./stream.ts";

export const messagesPath = "/v1/messages";

const [system, ...turns] = messages;

/** The question of the chat cases. */
const body = (model: string): string =>
  JSON.stringify({ model, max_tokens: 256, system: system?.content, messages: turns, stream: true });

/** Beside `stream`: the same bytes come from the upstream and have to be translated. */
export const messagesStream: BenchCase = {
  name: "messages-stream",
  title: `Messages stream, translated from a chat stream of ${streamEventCount} events (${streamBurstCount} bursts, as above)`,
  path: messagesPath,
  upstream: "chat",
  body,
  expectation: { kind: "messages-stream", events: messagesEventCount, words: streamWordCount },
  direct: stream,
  proxies: ["tollgate"],
};

export const messagesNative: BenchCase = {
  name: "messages-native",
  title: `Messages stream of ${messagesEventCount} events, relayed (${streamBurstCount} bursts, as above)`,
  path: messagesPath,
  upstream: "messages",
  body,
  expectation: { kind: "messages-stream", events: messagesEventCount, words: streamWordCount },
  proxies: ["nginx", "tollgate"],
};
