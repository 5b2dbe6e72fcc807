/** A chat upstream at which calls wait, as long as a test wants them to be under way. */
import { startScriptedUpstream } from "./scripted-upstream.ts";

export interface GatedUpstream {
  /** To be a provider's `base_url`. */
  url: string;
  /** Bodies of the requests so far. */
  received(): string[];
  /** Lets the calls to models named `held…` come to their end: those that wait, and those to come. */
  release(): void;
  stop(): Promise<void>;
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const whole = JSON.stringify({
  id: "chatcmpl-gated",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "hello there" }, finish_reason: "stop" }],
  usage,
});

const event = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-gated", object: "chat.completion.chunk", choices, ...more })}\n\n`;

const beginning = event([{ index: 0, delta: { role: "assistant", content: "hello" } }]);
const rest = [
  event([{ index: 0, delta: { content: " there" } }]),
  event([{ index: 0, delta: {}, finish_reason: "stop" }]),
  event([], { usage }),
  "data: [DONE]\n\n",
].join("");

/** Answers every chat call; streams and whole answers of `held…` models stop half way until `release`. */
export function startGatedUpstream(): GatedUpstream {
  const upstream = startScriptedUpstream();
  const gate = Promise.withResolvers<void>();
  upstream.answerWith(async ({ body }) => {
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    const opened = model.startsWith("held") ? gate.promise : Promise.resolve();
    if (stream === true) return eventStream(opened);
    await opened;
    return new Response(whole, { headers: { "content-type": "application/json" } });
  });
  return {
    url: upstream.url,
    received: () => upstream.requests.map(({ body }) => body),
    release: () => gate.resolve(),
    stop: () => upstream.stop(),
  };
}

function eventStream(opened: Promise<void>): Response {
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from(beginning));
      await opened;
      controller.enqueue(Buffer.from(rest));
      controller.close();
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}
