/** A chat upstream at which calls wait, as long as a test wants them to be under way. */
import { startScriptedUpstream } from "./scripted-upstream.ts";

export interface GatedUpstream {
  /** To be a provider's `base_url`. */
  url: string;
  /** Bodies of the requests so far; with a model, of the requests to it. */
  received(model?: string): string[];
  /** How many of its answers somebody went away from. */
  left(model: string): number;
  /** Lets the calls to a model named `held…` come to their end, or all of them: those that wait, and those to come. */
  release(model?: string): void;
  stop(): Promise<void>;
}

/** A chat call to one of its models, by the prefix `openai/`. */
export function gatedBody(model: string, more: object = {}): object {
  return { model: `openai/${model}`, messages: [{ role: "user", content: "hi" }], ...more };
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
/** The cost of a whole answer by `flatPrice`: 3 input and 2 output tokens. */
export const gatedCosts = 7_000n;

const headers = { "content-type": "application/json" };

function whole(id: string): Response {
  const choices = [{ index: 0, message: { role: "assistant", content: "hello there" }, finish_reason: "stop" }];
  return Response.json({ id, object: "chat.completion", choices, usage }, { headers });
}

function failure(): Response {
  const error = { message: "not today", type: "invalid_request_error", code: "not_today", param: null };
  return Response.json({ error }, { status: 400, headers });
}

/** The text of a stream before it waits, and after. */
function eventsOf(id: string): { beginning: string; rest: string } {
  const event = (choices: object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  const rest = [
    event([{ index: 0, delta: { content: " there" } }]),
    event([{ index: 0, delta: {}, finish_reason: "stop" }]),
    event([], { usage }),
    "data: [DONE]\n\n",
  ];
  return { beginning: event([{ index: 0, delta: { role: "assistant", content: "hello" } }]), rest: rest.join("") };
}

/**
 * Answers every chat call with other text. Streams and whole answers of `held…` models stop half way until `release`,
 * those of `…late` models before they begin; those of `…fails` models are errors, and streams of `…breaks` models break
 * off.
 */
export function startGatedUpstream(): GatedUpstream {
  const upstream = startScriptedUpstream();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const all = Promise.withResolvers<void>();
  const left = new Map<string, number>();
  const gateOf = (model: string): PromiseWithResolvers<void> => {
    const gate = gates.get(model) ?? Promise.withResolvers<void>();
    gates.set(model, gate);
    return gate;
  };
  let answers = 0;
  upstream.answerWith(async ({ body }) => {
    // The proof of a key has an empty body.
    const { model = "", stream } = JSON.parse(body) as { model?: string; stream?: boolean };
    const opened = model.startsWith("held") ? Promise.race([gateOf(model).promise, all.promise]) : Promise.resolve();
    answers += 1;
    const id = `chatcmpl-gated-${answers}`;
    if (model.endsWith("late")) await opened;
    if (stream === true && !model.endsWith("fails")) {
      const leave = (): void => void left.set(model, (left.get(model) ?? 0) + 1);
      return eventStream(id, opened, { breaks: model.endsWith("breaks"), leave });
    }
    await opened;
    return model.endsWith("fails") ? failure() : whole(id);
  });
  return {
    url: upstream.url,
    received: (model) =>
      upstream.requests.map(({ body }) => body).filter((body) => model === undefined || modelOf(body) === model),
    left: (model) => left.get(model) ?? 0,
    release(model) {
      if (model === undefined) all.resolve();
      else gateOf(model).resolve();
    },
    stop: () => upstream.stop(),
  };
}

function modelOf(body: string): string {
  return (JSON.parse(body) as { model: string }).model;
}

function eventStream(
  id: string,
  opened: Promise<void>,
  { breaks, leave }: { breaks: boolean; leave: () => void },
): Response {
  const { beginning, rest } = eventsOf(id);
  let gone = false;
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from(beginning));
      await opened;
      if (gone) return;
      if (!breaks) controller.enqueue(Buffer.from(rest));
      controller.close();
    },
    cancel() {
      gone = true;
      leave();
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}
