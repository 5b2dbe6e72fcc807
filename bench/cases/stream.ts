import { streamBurstCount, streamEventCount } from "../upstream/answers.ts";
import type { BenchCase } from "./case.ts";
import { chatPath, messages } from "./chat.ts";

/** Requests the usage chunk, so that a proxy that hides it otherwise relays the same bytes as the others. */
export const stream: BenchCase = {
  name: "stream",
  title: `Stream of ${streamEventCount} events (the upstream writes them in ${streamBurstCount} flushed bursts, no pauses)`,
  path: chatPath,
  upstream: "chat",
  body: (model) =>
    JSON.stringify({ model, messages, max_tokens: 256, stream: true, stream_options: { include_usage: true } }),
  expectation: { kind: "stream", events: streamEventCount },
};
