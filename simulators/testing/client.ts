import { connect } from "node:net";
import { asArray, asObject, isObject, parseJson } from "../shared/json.ts";

/** An answer received by a plain HTTP client. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** In the provider's way: Google's own API in a separate header, everything else as a bearer token. */
function keyFor(url: string): Record<string, string> {
  const isNative = url.includes("/google/v1beta/") && !url.includes("/google/v1beta/openai/");
  return isNative ? { "x-goog-api-key": "good-key" } : { authorization: "Bearer good-key" };
}

/** POSTs JSON with a key, unless the headers contain one. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const sent = { ...keyFor(url), "content-type": "application/json", ...headers };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", headers: sent, body: text });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** GETs likewise. */
export async function get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, { headers: { ...keyFor(url), ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The data of each event, comments and blank lines skipped. */
export function eventData(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length));
}

/** An event of a stream. */
export interface NamedEvent {
  /** Null for events without a name. */
  readonly event: string | null;
  /** Decoded; undefined for `[DONE]`. */
  readonly data: unknown;
}

/** The events of a stream with their names, comments skipped. */
export function eventsOf(reply: { readonly text: string }): NamedEvent[] {
  const blocks = reply.text.split(/\r?\n\r?\n/).filter((block) => /^data: /m.test(block));
  return blocks.map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1] ?? null,
    data: parseJson(/^data: (.*)$/m.exec(block)?.[1] ?? ""),
  }));
}

/** A chat chunk as far as the tests read it. */
export interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly usage?: Usage | null;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Delta;
    readonly finish_reason?: string | null;
    readonly usage?: Usage;
  }[];
  readonly x_groq?: { readonly id: string; readonly usage?: Usage };
}

interface Delta {
  readonly role?: string;
  readonly content?: unknown;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly type?: string;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly [detail: string]: unknown;
}

export interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly usage: Usage;
  readonly choices: readonly {
    readonly index: number;
    readonly finish_reason: string;
    readonly message: Delta & { readonly content: string | null };
  }[];
}

/** The decoded body. @throws SyntaxError if it is not JSON. */
export function bodyOf(reply: { readonly text: string }): unknown {
  return JSON.parse(reply.text);
}

/** The value at a path of keys and indexes, or undefined. */
export function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    return Array.isArray(inner) ? inner[Number(key)] : asObject(inner)[String(key)];
  }, value);
}

function isChunk(value: unknown): value is Chunk {
  return isObject(value) && value["object"] === "chat.completion.chunk" && Array.isArray(value["choices"]);
}

function isCompletion(value: unknown): value is Completion {
  return isObject(value) && value["object"] === "chat.completion" && Array.isArray(value["choices"]);
}

/** The body as a completion. @throws if it is none. */
export function completionOf(reply: Reply): Completion {
  const body = bodyOf(reply);
  if (!isCompletion(body)) throw new TypeError(`no completion: ${reply.text.slice(0, 500)}`);
  return body;
}

/** The chunks of a stream without its `[DONE]`. @throws if an event is not a chunk. */
export function chunksOf(reply: Reply): Chunk[] {
  const events = eventData(reply.text).filter((data) => data !== "[DONE]");
  const chunks = events.map((data): unknown => JSON.parse(data)).filter(isChunk);
  if (chunks.length !== events.length) throw new TypeError(`not only chunks: ${reply.text.slice(0, 500)}`);
  return chunks;
}

/** The caller's view of the socket. */
export interface RawReply {
  readonly text: string;
  /** The pieces as they arrived. */
  readonly pieces: readonly string[];
  /** Code of the socket's error, null for an orderly close. */
  readonly errorCode: string | null;
}

export interface RawOptions {
  /** Closes the socket when the text received so far satisfies it. */
  readonly leaveWhen?: (text: string) => boolean;
}

/** POSTs over a raw socket and reads until either side closes it. */
export function rawPost(url: string, body: unknown, options: RawOptions = {}): Promise<RawReply> {
  const { hostname, port, pathname } = new URL(url);
  const text = JSON.stringify(body);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${hostname}`,
    "authorization: Bearer good-key",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  return new Promise((resolve) => {
    const pieces: string[] = [];
    let errorCode: string | null = null;
    const socket = connect(Number(port), hostname, () => socket.write(`${head.join("\r\n")}\r\n\r\n${text}`));
    socket.on("data", (piece) => {
      pieces.push(piece.toString());
      if (options.leaveWhen?.(pieces.join("")) === true) socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      errorCode = error.code ?? error.message;
    });
    socket.on("close", () => resolve({ text: pieces.join(""), pieces, errorCode }));
  });
}

/** Waits until a condition holds. @throws after five seconds, naming the condition. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A chat request of one user message. */
export function chat(model: string, content: string, more: object = {}): Record<string, unknown> {
  return { model, messages: [{ role: "user", content }], ...more };
}

/** A function tool that needs one text and one number. */
export const weatherTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
      required: ["city", "days"],
    },
  },
};

/** Asks a stream for its usage. */
export const includeUsage = { stream: true, stream_options: { include_usage: true } };

/** The first chunk with a finish reason. */
export function finishing(chunks: readonly Chunk[]): Chunk | undefined {
  return chunks.find((chunk) => typeof chunk.choices[0]?.finish_reason === "string");
}

/** The list under a key of a body; empty if absent. */
export function listOf(reply: { readonly text: string }, key: string): readonly unknown[] {
  return asArray(member(bodyOf(reply), key));
}

/** The error of a call that must fail. @throws if it does not. */
export async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call did not fail");
}

/** The first piece of a body that goes on, then leaves it. */
export async function firstPiece(response: Response): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  const reader = body?.getReader();
  const piece = await reader?.read();
  await reader?.cancel();
  return piece?.value === undefined ? "" : new TextDecoder().decode(piece.value);
}
