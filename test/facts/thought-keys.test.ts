/** A conversation with encrypted thoughts stays with the key that made them, at providers with several keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  type Gateway,
  messagesPath,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

type Json = Record<string, unknown>;

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
let stranger: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const entry = (kind: string, more: object = {}) => ({
    kind,
    base_url: upstream.url,
    api_keys: ["sk-key-of-account-1", "sk-key-of-account-2", "sk-key-of-account-3"],
    ...more,
  });
  gateway = await startGateway({
    config: {
      upstream: { retries: 2 },
      routing: {
        circuits: false,
        routes: {
          either: { tiers: [[{ model: "openai/gpt-5.5" }], [{ model: "other/gpt-5.5" }]] },
          cheapest: { strategy: "least_cost", tiers: [[{ model: "openai/gpt-5.5" }, { model: "other/gpt-5.5" }]] },
        },
      },
      pricing: { models: { "other/*": { input_mtok: 900, output_mtok: 900 } } },
    },
    providers: {
      openai: entry("openai"),
      anthropic: entry("anthropic"),
      messages: entry("anthropic", { dialects: ["messages"] }),
      google: entry("google"),
      other: { kind: "openai", base_url: upstream.url, api_key: "sk-key-of-another" },
    },
  });
  token = await gateway.token({ user: "owner" });
  stranger = await gateway.token({ user: "stranger" });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function ask(path: string, body: Json, as = token): Promise<{ text: string; key: string }> {
  upstream.requests.length = 0;
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return { text, key: upstream.requests.at(-1)?.key ?? "" };
}

let made = 0;
/** A new secret of the upstream's own, of which a body keeps the beginning alone. */
const secret = (): string => `gAAAAA${String((made += 1)).padStart(4, "0")}${"x".repeat(400)}`;

const streamed = (events: readonly Json[]): Response =>
  new Response(events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

const reasoning = (encrypted: string): Json => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: encrypted,
});
const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hi.", annotations: [] }],
};
const response = (encrypted: string): Json => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "gpt-5.5",
  output: [reasoning(encrypted), message],
  usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
});
const thinking = (signature: string): Json => ({ type: "thinking", thinking: "Hm.", signature });
const claude = (signature: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content: [thinking(signature), { type: "text", text: "Hi." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 5 },
});
const call = (signature: string): Json => ({
  id: "call_1",
  type: "function",
  function: { name: "f", arguments: "{}" },
  extra_content: { google: { thought_signature: signature } },
});

/** A stream of Claude's, with the thought's signature in an event of its own. */
function claudeStream(signature: string): Response {
  const { content: _, stop_reason: __, ...head } = claude(signature);
  return streamed([
    { type: "message_start", message: { ...head, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]);
}

const hello = { role: "user", content: "Hello." };
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

/** Two calls of a conversation: the first one's answer, and the second one with its items. */
interface Conversation {
  path: string;
  first: Json;
  answer: (encrypted: string) => Response;
  next: (encrypted: string, text: string) => Json;
}

const conversations: Record<string, Conversation> = {
  "OpenAI's encrypted reasoning": {
    path: responsesPath,
    first: { model: "openai/gpt-5.5", input: "Hello.", store: false },
    answer: (encrypted) => Response.json(response(encrypted)),
    next: (encrypted) => ({
      model: "openai/gpt-5.5",
      store: false,
      input: [hello, reasoning(encrypted), message, { role: "user", content: "And?" }],
    }),
  },
  "OpenAI's, streamed": {
    path: responsesPath,
    first: { model: "openai/gpt-5.5", input: "Hello.", store: false, stream: true },
    answer: (encrypted) =>
      streamed([
        { type: "response.created", response: { ...response(encrypted), status: "in_progress", output: [] } },
        { type: "response.output_item.done", output_index: 0, item: reasoning(encrypted) },
        { type: "response.output_item.done", output_index: 1, item: message },
        { type: "response.completed", response: response(encrypted) },
      ]),
    next: (encrypted) => ({
      model: "openai/gpt-5.5",
      store: false,
      stream: true,
      input: [hello, reasoning(encrypted), message, { role: "user", content: "And?" }],
    }),
  },
  "Claude's signature, streamed": {
    path: messagesPath,
    first: { model: "anthropic/claude-sonnet-4-5", max_tokens: 50, messages: [hello], stream: true },
    answer: claudeStream,
    next: (signature) => ({
      model: "anthropic/claude-sonnet-4-5",
      max_tokens: 50,
      stream: true,
      messages: [hello, { role: "assistant", content: [thinking(signature), { type: "text", text: "Hi." }] }, hello],
    }),
  },
  "Claude's signature in a translated conversation": {
    path: responsesPath,
    first: { model: "messages/claude-sonnet-4-5", input: "Hello.", store: false },
    answer: (signature) => Response.json(claude(signature)),
    next: (_signature, text) => ({
      model: "messages/claude-sonnet-4-5",
      store: false,
      input: [hello, ...((JSON.parse(text) as Json)["output"] as Json[]), hello],
    }),
  },
  "Google's signature of a call": {
    path: chatPath,
    first: { model: "google/gemini-2.5-flash", messages: [hello], tools },
    answer: (signature) =>
      Response.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "gemini-2.5-flash",
        choices: [
          { index: 0, finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [call(signature)] } },
        ],
        usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
      }),
    next: (signature) => ({
      model: "google/gemini-2.5-flash",
      tools,
      messages: [
        hello,
        { role: "assistant", tool_calls: [call(signature)] },
        { role: "tool", tool_call_id: "call_1", content: "1" },
      ],
    }),
  },
};

const titles = Object.keys(conversations);
const conversationOf = (title: string): Conversation => {
  const found = conversations[title];
  if (found === undefined) throw new Error(title);
  return found;
};

test.each(titles)("%s: every later call begins with the key that made it", async (title) => {
  const { path, first, answer, next } = conversationOf(title);
  const encrypted = secret();
  upstream.answerWith(() => answer(encrypted));
  const { text, key } = await ask(path, first);
  for (let turn = 0; turn < 4; turn += 1) expect((await ask(path, next(encrypted, text))).key).toBe(key);
});

describe.each(["either", "cheapest"])("a route, %s,", (model) => {
  const { path, answer, next } = conversationOf("OpenAI's encrypted reasoning");
  const unavailable = (): Response => Response.json({ error: { message: "Later." } }, { status: 503 });
  const elsewhere = "sk-key-of-another";

  /** A conversation whose first answer was the second target's. */
  async function begun(): Promise<{ encrypted: string; body: Json }> {
    const encrypted = secret();
    upstream.answerWith((request) => (request.key === elsewhere ? answer(encrypted) : unavailable()));
    const { key } = await ask(path, { model, input: "Hello.", store: false });
    expect(key).toBe(elsewhere);
    upstream.answerWith(() => answer(encrypted));
    return { encrypted, body: { ...next(encrypted, ""), model } };
  }

  test("asks the provider that made the thoughts first, and for the same user alone", async () => {
    const { body } = await begun();
    for (let turn = 0; turn < 3; turn += 1) expect((await ask(path, body)).key).toBe(elsewhere);
    expect((await ask(path, body, stranger)).key).not.toBe(elsewhere);
    expect((await ask(path, { model, input: "Hello.", store: false })).key).not.toBe(elsewhere);
  });

  test("asks the others if that provider fails", async () => {
    const { encrypted, body } = await begun();
    upstream.answerWith((request) => (request.key === elsewhere ? unavailable() : answer(encrypted)));
    const { key } = await ask(path, body);
    expect(upstream.requests[0]?.key).toBe(elsewhere);
    expect(key).not.toBe(elsewhere);
  });
});

test("calls without thoughts use the keys in turn, and so do those of another user", async () => {
  const { path, first, answer, next } = conversationOf("OpenAI's encrypted reasoning");
  const encrypted = secret();
  upstream.answerWith(() => answer(encrypted));
  await ask(path, first);
  upstream.answerWith(() => answer(secret()));
  const keysOf = async (body: Json, as?: string) => {
    const keys = new Set<string>();
    for (let turn = 0; turn < 3; turn += 1) keys.add((await ask(path, body, as)).key);
    return keys.size;
  };
  expect(await keysOf(first)).toBe(3);
  expect(await keysOf(next(encrypted, ""), stranger)).toBe(3);
});

test("a key that is refused is followed by another one: the provider leaves the thought out", async () => {
  const { path, first, answer, next } = conversationOf("OpenAI's encrypted reasoning");
  const encrypted = secret();
  upstream.answerWith(() => answer(encrypted));
  const { key } = await ask(path, first);
  const limited = { error: { message: "Too many.", type: "requests", code: "rate_limit_exceeded" } };
  upstream.answerWith((request) => (request.key === key ? Response.json(limited, { status: 429 }) : answer(encrypted)));
  const later = await ask(path, next(encrypted, ""));
  expect(upstream.requests.map((request) => request.key)[0]).toBe(key);
  expect(later.key).not.toBe(key);
});
