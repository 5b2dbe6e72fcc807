/**
 * Counts that are none: each is estimated by itself, whichever provider sends it in whichever
 * dialect, whole or streamed. The charges are worked out by hand, under 1 and 2 credits for a million tokens.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  expectCleanAudit,
  type Gateway,
  messagesPath,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

type Dialect = "chat" | "messages" | "responses";
type Side = "input" | "output";
type Json = Record<string, unknown>;

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;

const presets = ["deepseek", "mistral", "groq", "openrouter", "perplexity", "vllm"];
const kinds = ["openai", "anthropic", "google", "xai", "byteplus"];

beforeAll(async () => {
  upstream = startScriptedUpstream();
  const provider = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: Object.fromEntries<object>([
      ...kinds.map((kind): [string, object] => [kind, { kind, ...provider }]),
      ...presets.map((preset): [string, object] => [preset, { kind: "openai-compatible", preset, ...provider }]),
    ]),
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
});

/** 400 bytes, which are estimated as 100 tokens. */
const said = "word ".repeat(80);
const asked = "p".repeat(400);
const CAP = 200;

/** The request in each dialect, and its input as it is estimated: a quarter of its bytes and of 16 for a message. */
const requests: Readonly<Record<Dialect, { path: string; body: Json; estimate: number }>> = {
  chat: {
    path: chatPath,
    body: {
      messages: [{ role: "user", content: asked }],
      max_tokens: CAP,
      stream_options: { include_usage: true },
    },
    // (400 + 16) / 4.
    estimate: 104,
  },
  messages: {
    path: messagesPath,
    body: { messages: [{ role: "user", content: asked }], max_tokens: CAP },
    // (400 + 16 + 15) / 4: the role is JSON text too.
    estimate: 108,
  },
  responses: {
    path: responsesPath,
    body: { input: asked, max_output_tokens: CAP, store: false },
    // (400 + 2 × 16) / 4: the instructions are a message of their own.
    estimate: 108,
  },
};

/** What an upstream counts where it counts right. */
const right = { input: 90, output: 95 };

/** A count that is none; absent if there is no value. */
const faults: [string, unknown][] = [
  ["absent", undefined],
  ["null", null],
  ["a text", "95"],
  ["a fraction", 1.5],
  ["negative", -95],
  ["zero beside text", 0],
  ["far beyond what was sent", 1_000_000],
  ["no number that can be", 1e18],
];

const names: Readonly<Record<Dialect, Readonly<Record<Side, string>>>> = {
  chat: { input: "prompt_tokens", output: "completion_tokens" },
  messages: { input: "input_tokens", output: "output_tokens" },
  responses: { input: "input_tokens", output: "output_tokens" },
};

const counts = (dialect: Dialect, told: Record<Side, unknown>): Json => ({
  [names[dialect].input]: told.input,
  [names[dialect].output]: told.output,
});

const events = (...each: Json[]): string => each.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const pieces = said.match(/.{1,100}/g) ?? [];

const wholes: Readonly<Record<Dialect, (usage: Json) => Json>> = {
  chat: (usage) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
    usage,
  }),
  messages: (usage) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: said }],
    stop_reason: "end_turn",
    usage,
  }),
  responses: (usage) => ({
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "m",
    created_at: 1,
    error: null,
    output: [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: said, annotations: [] }],
      },
    ],
    usage,
  }),
};

const streams: Readonly<Record<Dialect, (usage: Json) => string>> = {
  chat: (usage) =>
    events(
      ...pieces.map((content) => ({ id: "c", model: "m", choices: [{ index: 0, delta: { content } }] })),
      { id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "c", model: "m", choices: [], usage },
    ) + "data: [DONE]\n\n",
  messages: ({ input_tokens, output_tokens }) =>
    events(
      {
        type: "message_start",
        message: { id: "msg_1", model: "m", role: "assistant", content: [], usage: { input_tokens, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens } },
      { type: "message_stop" },
    ),
  responses: (usage) => {
    const response = wholes.responses(usage);
    const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
    return events(
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "message", id: "msg_1", role: "assistant", content: [] },
      },
      ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
      { type: "response.output_text.done", ...at, text: said },
      { type: "response.completed", response },
    );
  },
};

const dialectOf = (path: string): Dialect => {
  if (path.endsWith("/chat/completions")) return "chat";
  return path.endsWith("/responses") ? "responses" : "messages";
};

/** Calls a provider that answers with these counts, in the dialect in which it is asked. */
async function call(model: string, { client, stream }: Way, told: Record<Side, unknown>, more: Json = {}) {
  let sent = "";
  let sentIn: Dialect = client;
  upstream.answerWith(({ path }) => {
    sentIn = dialectOf(path);
    const usage = { ...counts(sentIn, told), ...more };
    sent = stream ? streams[sentIn](usage) : JSON.stringify(wholes[sentIn](usage));
    return new Response(sent, { headers: { "content-type": stream ? "text/event-stream" : "application/json" } });
  });
  const { path, body } = requests[client];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify({ model, stream, ...body }) };
  if (!stream) options.body = JSON.stringify({ model, ...body, stream_options: undefined });
  const answer = await fetch(gateway.url + path, options);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const id = answer.headers.get("x-request-id");
  const record = (await (await fetch(`${gateway.url}/v1/generations/${id}`, { headers })).json()) as Json;
  return { text, sent, passes: sentIn === client, record, credits: answer.headers.get("x-tollgate-credits") };
}

interface Way {
  client: Dialect;
  stream: boolean;
}

/** The last usage that a client gets, as totals. */
function toldIn(client: Dialect, stream: boolean, text: string): Record<Side, unknown> | undefined {
  const found = stream
    ? text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Json] : []))
    : [JSON.parse(text) as Json];
  const usages = found.map(({ usage, response }) => usage ?? (response as Json | undefined)?.["usage"] ?? undefined);
  const last = usages.findLast((usage) => usage !== undefined) as Json | undefined;
  return last && { input: last[names[client].input], output: last[names[client].output] };
}

const ways: Way[] = (["chat", "messages", "responses"] as const).flatMap((client) =>
  [false, true].map((stream) => ({ client, stream })),
);

const nameOf = ({ client, stream }: Way): string => `${client}, ${stream ? "streamed" : "whole"}`;

const credits = ({ input, output }: Record<Side, number>): number => (input + 2 * output) / 1e6;

describe.each([...kinds, ...presets])("%s", (provider) => {
  test.each(ways.map((way) => [nameOf(way), way] as const))("a client of %s", async (_name, way) => {
    const { estimate } = requests[way.client];
    const estimates = { input: estimate, output: 100 };
    for (const [fault, value] of faults) {
      for (const side of ["input", "output"] as const) {
        const given = await call(`${provider}/m`, way, { ...right, [side]: value });
        const charged = { ...right, [side]: estimates[side] };
        const seen = { fault, side, record: given.record, told: toldIn(way.client, way.stream, given.text) };
        expect(seen).toMatchObject({
          record: {
            credits: credits(charged),
            estimated: [side],
            input_tokens: charged.input,
            output_tokens: charged.output,
          },
          // A translated answer contains the charged usage.
          ...(given.passes ? {} : { told: charged }),
        });
        // The ids of DeepSeek's responses are the gateway's.
        const isRewritten = provider === "google" || (provider === "deepseek" && way.client === "responses");
        if (given.passes && !isRewritten) expect(given.text).toContain(given.sent);
        if (!way.stream) expect(given.credits).toBe(String(credits(charged)));
      }
    }
  });

  test.each(ways.map((way) => [nameOf(way), way] as const))("right counts stand: %s", async (_name, way) => {
    const { record } = await call(`${provider}/m`, way, right);
    expect(record).toMatchObject({ credits: credits(right), input_tokens: 90, output_tokens: 95 });
    expect(record).not.toHaveProperty("estimated");
  });
});

describe("a reported cost of 0 beside tokens is no price", () => {
  test.each<[string, Json]>([
    ["xai", { cost_in_usd_ticks: 0 }],
    ["openrouter", { cost: 0 }],
    ["perplexity", { cost: { total_cost: 0 } }],
  ])("%s", async (provider, cost) => {
    for (const stream of [false, true]) {
      const { record } = await call(`${provider}/m`, { client: "chat", stream }, right, cost);
      expect(record).toMatchObject({ credits: credits(right) });
    }
  });
});

test("the chunk with the usage that the gateway writes itself has the charged one", async () => {
  // Google has it in every chunk, which the gateway changes.
  const usage = { prompt_tokens: 90, completion_tokens: null };
  const choice = { index: 0, delta: { content: said }, finish_reason: "stop" };
  const sent = `${events({ id: "c", model: "m", choices: [choice], usage })}data: [DONE]\n\n`;
  upstream.answerWith(() => new Response(sent, { headers: { "content-type": "text/event-stream" } }));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "google/m", stream: true, ...requests.chat.body });
  const text = await (await fetch(gateway.url + chatPath, { method: "POST", headers, body })).text();
  expect(toldIn("chat", true, text)).toEqual({ input: 90, output: 100 });
});
