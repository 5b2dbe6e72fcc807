/** An upstream with three dialects that fails as the model's name says, with the requests and answers of each dialect. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

export type Dialect = "chat" | "messages" | "responses";

export const paths: Readonly<Record<Dialect, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

const question = [{ role: "user", content: "Hello!" }];

/** A request of the dialect; a stream of chat has its usage. */
export function requestIn(dialect: Dialect, model: string, stream: boolean): object {
  if (dialect === "responses") return { model, stream, input: "Hello!", store: false, max_output_tokens: 50 };
  if (dialect === "messages") return { model, stream, messages: question, max_tokens: 50 };
  return {
    model,
    stream,
    messages: question,
    max_tokens: 50,
    ...(stream && { stream_options: { include_usage: true } }),
  };
}

type Json = Record<string, unknown>;

const event = (name: string | undefined, data: Json | string): string => {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`;
};
const named = (data: Json & { type: string }): string => event(data.type, data);

/** The events of a stream: before its content, with it, and after it. */
interface Stream {
  head: readonly string[];
  content: readonly string[];
  end: readonly string[];
}

const chunk = (delta: Json, reason: string | null = null): string =>
  event(undefined, {
    id: "c1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: null, stop_sequence: null };
const messagesUsage = { input_tokens: 10, output_tokens: 1 };

const responsesUsage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const parts = [{ type: "output_text", text: "Hello there", annotations: [] }];
const response = (status: string, more: Json = {}): Json => ({
  id: "resp_1",
  object: "response",
  status,
  model: "m",
  output: [],
  ...more,
});
const finished = response("completed", { output: [{ ...item, content: parts }], usage: responsesUsage });

const streams: Readonly<Record<Dialect, Stream>> = {
  chat: {
    head: [": ping\n\n", chunk({ role: "assistant", content: "" })],
    content: [chunk({ content: "Hello" }), chunk({ content: " there" })],
    end: [chunk({}, "stop"), event(undefined, { id: "c1", choices: [], usage: chatUsage }), event(undefined, "[DONE]")],
  },
  messages: {
    head: [
      named({ type: "message_start", message: { ...message, content: [], usage: messagesUsage } }),
      named({ type: "ping" }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    content: ["Hello", " there"].map((text) =>
      named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    ),
    end: [
      named({ type: "content_block_stop", index: 0 }),
      named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
      named({ type: "message_stop" }),
    ],
  },
  responses: {
    head: [
      named({ type: "response.created", response: response("in_progress") }),
      named({ type: "response.in_progress", response: response("in_progress") }),
      named({
        type: "response.output_item.added",
        output_index: 0,
        item: { ...item, status: "in_progress", content: [] },
      }),
      named({
        type: "response.content_part.added",
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "", annotations: [] },
      }),
    ],
    content: ["Hello", " there"].map((delta) =>
      named({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta }),
    ),
    end: [
      named({ type: "response.output_item.done", output_index: 0, item: { ...item, content: parts } }),
      named({ type: "response.completed", response: finished }),
      event(undefined, "[DONE]"),
    ],
  },
};

const wholes: Readonly<Record<Dialect, Json>> = {
  chat: {
    id: "c1",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there" }, finish_reason: "stop" }],
    usage: chatUsage,
  },
  messages: {
    ...message,
    stop_reason: "end_turn",
    content: [{ type: "text", text: "Hello there" }],
    usage: { ...messagesUsage, output_tokens: 5 },
  },
  responses: finished,
};

/** Refusals with a status of success, streamed and whole. */
const refused: Readonly<Record<Dialect, { stream: readonly string[]; whole: Json }>> = {
  chat: {
    stream: [chunk({ role: "assistant", content: "" }), chunk({ refusal: "I can't." }), ...streams.chat.end],
    whole: {
      ...wholes.chat,
      choices: [
        { index: 0, message: { role: "assistant", content: null, refusal: "I can't." }, finish_reason: "stop" },
      ],
    },
  },
  messages: {
    stream: [
      ...streams.messages.head.slice(0, 2),
      named({ type: "message_delta", delta: { stop_reason: "refusal" }, usage: { output_tokens: 5 } }),
      named({ type: "message_stop" }),
    ],
    whole: { ...wholes.messages, content: [], stop_reason: "refusal" },
  },
  responses: {
    stream: [
      ...streams.responses.head.slice(0, 3),
      named({ type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "I can't." }),
      named({
        type: "response.completed",
        response: { ...finished, output: [{ ...item, content: [{ type: "refusal", refusal: "I can't." }] }] },
      }),
      event(undefined, "[DONE]"),
    ],
    whole: { ...finished, output: [{ ...item, content: [{ type: "refusal", refusal: "I can't." }] }] },
  },
};

/** An error within a stream, in the dialect's words for an overload or a fault of the request. */
const errorEvents: Readonly<Record<Dialect, Readonly<Record<"busy" | "invalid", string>>>> = {
  chat: {
    busy: event(undefined, { error: { message: "Busy", type: "server_error", code: "overloaded" } }),
    invalid: event(undefined, { error: { message: "No", type: "invalid_request_error", code: "invalid_value" } }),
  },
  messages: {
    busy: named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    invalid: named({ type: "error", error: { type: "invalid_request_error", message: "No" } }),
  },
  responses: {
    busy: named({
      type: "response.failed",
      response: response("failed", { error: { code: "server_error", message: "Busy" } }),
    }),
    invalid: named({ type: "error", code: "invalid_value", message: "No", param: null }),
  },
};

interface StatusFailure {
  status: number;
  error: Json;
}

/** Failures before the head, by class. */
const statusFailures: Readonly<Record<string, StatusFailure>> = {
  broken: { status: 500, error: { message: "Oh" } },
  overloaded: { status: 503, error: { message: "Busy", code: "busy", type: "a type with a sentence" } },
  rate_limited: { status: 429, error: { message: "Slow down", type: "rate_limit_error" } },
  key_refused: { status: 401, error: { message: "Bad key", code: "invalid_api_key", type: "authentication_error" } },
  quota_gone: { status: 402, error: { message: "No money" } },
  model_gone: { status: 403, error: { message: "Not yours", type: "permission_error" } },
  context_window: {
    status: 400,
    error: { message: "prompt is too long: 3 tokens > 2 maximum", code: "context_length_exceeded" },
  },
  content_policy: {
    status: 400,
    error: { message: "Output blocked by content filtering policy", code: "content_policy_violation" },
  },
  request: { status: 400, error: { message: "Bad field", type: "invalid_request_error" } },
};

const pathEnds: readonly [string, Dialect][] = [
  ["/chat/completions", "chat"],
  ["/messages", "messages"],
  ["/responses", "responses"],
];

/** The answer of a target that works. */
export function goodAnswer(dialect: Dialect, stream: boolean): string {
  const { head, content, end } = streams[dialect];
  return stream ? [...head, ...content, ...end].join("") : JSON.stringify(wholes[dialect]);
}

/** The refusal with a status of success. */
export function refusalIn(dialect: Dialect, stream: boolean): string {
  return stream ? refused[dialect].stream.join("") : JSON.stringify(refused[dialect].whole);
}

export interface FailingUpstream {
  /** To be a provider's `base_url`. */
  url: string;
  /** The models of the requests so far. */
  asked: string[];
  /** Models that fail with 500, whatever their names say. */
  dead: Set<string>;
  stop(): Promise<void>;
}

/**
 * Fails as the model's name says: `status-CLASS`, `silent`, `head-…` and `content-…` (how a stream ends after its head or its
 * first content: `cut`, `silence`, `busy`, `invalid`), `whole-cut`, `whole-junk`, `refusal`. Any other model works.
 */
export async function startFailingUpstream(): Promise<FailingUpstream> {
  const asked: string[] = [];
  const dead = new Set<string>();
  const server = createServer((request, reply) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const dialect = pathEnds.find(([end]) => request.url?.endsWith(end))?.[1] ?? "chat";
      const { model, stream = false } = JSON.parse(Buffer.concat(pieces).toString()) as {
        model: string;
        stream?: boolean;
      };
      asked.push(model);
      void send(reply, answerOf(dialect, dead.has(model) ? "status-broken" : model, stream));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    asked,
    dead,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An answer; without a status, none begins. */
interface ScriptedAnswer {
  status?: number;
  type?: string;
  texts?: readonly string[];
  /** Absent: it ends as it should. */
  end?: "cut" | "silence";
}

async function send(reply: ServerResponse, { status, type, texts = [], end }: ScriptedAnswer): Promise<void> {
  if (status === undefined) return;
  reply.writeHead(status, { "content-type": type ?? "application/json", "x-request-id": "theirs" });
  // Each text is a packet of its own, of which a cut afterwards takes nothing back.
  for (const text of texts) await new Promise((resolve) => reply.write(text, resolve));
  if (end === "cut") reply.destroy();
  else if (end === undefined) reply.end();
}

function answerOf(dialect: Dialect, model: string, stream: boolean): ScriptedAnswer {
  const [kind, rest = ""] = model.split(/-(.*)/);
  const { head, content } = streams[dialect];
  switch (kind) {
    case "silent":
      return {};
    case "status": {
      const { status, error } = statusFailures[rest] ?? { status: 500, error: {} };
      return { status, texts: [JSON.stringify({ type: "error", error })] };
    }
    case "whole":
      return {
        status: 200,
        texts: [JSON.stringify(wholes[dialect]).slice(0, 40)],
        ...(rest === "cut" && { end: "cut" }),
      };
    case "refusal":
      return answered(refusalIn(dialect, stream), stream);
    case "head":
      return ended(dialect, head, rest);
    case "content":
      return ended(dialect, [...head, ...content.slice(0, 1)], rest);
    default:
      return answered(goodAnswer(dialect, stream), stream);
  }
}

const EVENTS = "text/event-stream";

const answered = (text: string, stream: boolean): ScriptedAnswer => ({
  status: 200,
  texts: [text],
  ...(stream && { type: EVENTS }),
});

function ended(dialect: Dialect, texts: readonly string[], rest: string): ScriptedAnswer {
  if (rest === "cut" || rest === "silence") return { status: 200, type: EVENTS, texts, end: rest };
  return { status: 200, type: EVENTS, texts: [...texts, errorEvents[dialect][rest === "busy" ? "busy" : "invalid"]] };
}
