/** Upstreams with Anthropic's API whose counts of input contain the cache: each token is charged once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Gateway,
  messagesPath,
  chatPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
  talker,
} from "../kit/index.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const entry = { kind: "anthropic", base_url: upstream.url, api_key: "k", dialects: ["messages"] };
  gateway = await startGateway({ providers: { plain: entry, kimi: { ...entry, usage_includes_cache: true } } });
  token = await gateway.token();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

type Figures = Record<string, unknown>;

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  stop_reason: "end_turn",
  stop_sequence: null,
};
const content = [{ type: "text", text: "Hello." }];

const whole = (usage: Figures): Response => Response.json({ ...message, content, usage });

function streamed(first: Figures, last: Figures): Response {
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: first } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: last },
    { type: "message_stop" },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

async function chargedFor(path: string, body: object, answer: Response): Promise<Record<string, number>> {
  upstream.answerWith(() => answer);
  const caller = talker(gateway.url, token);
  const prompt = [{ role: "user", content: "Hello. ".repeat(9_000) }];
  const { status, headers, text } = await caller.ask(path, { body: { messages: prompt, max_tokens: 1_000, ...body } });
  expect(status, text).toBe(200);
  const { json } = await caller.ask(`/v1/generations/${headers.get("x-request-id")}`);
  const { usage } = json as { usage: Record<string, number> };
  return { input: usage["input"] ?? 0, cacheRead: usage["cache_read"] ?? 0, output: usage["output"] ?? 0 };
}

/** As Kimi's and DashScope's were reported. */
const cases = [
  {
    name: "Kimi, whole",
    stream: false,
    answer: () => whole({ input_tokens: 17_330, cache_read_input_tokens: 17_305, output_tokens: 10 }),
    charged: { input: 25, cacheRead: 17_305, output: 10 },
  },
  {
    name: "DashScope, a stream that names the cache at its end, a little more than the input",
    stream: true,
    answer: () =>
      streamed({ input_tokens: 3_602, output_tokens: 0 }, { cache_read_input_tokens: 3_604, output_tokens: 87 }),
    charged: { input: 0, cacheRead: 3_604, output: 87 },
  },
  {
    name: "Kimi, a stream whose end has the input without the cache",
    stream: true,
    answer: () =>
      streamed(
        { input_tokens: 1_000, output_tokens: 0 },
        { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 5 },
      ),
    charged: { input: 100, cacheRead: 900, output: 5 },
  },
];

describe.each(cases)("$name", ({ stream, answer, charged }) => {
  test.each([messagesPath, chatPath])("%s", async (path) => {
    expect(await chargedFor(path, { model: "kimi/m", stream }, answer())).toEqual(charged);
  });
});

test("Anthropic counts the cache apart", async () => {
  const usage = { input_tokens: 17_330, cache_read_input_tokens: 17_305, output_tokens: 10 };
  const charged = { input: 17_330, cacheRead: 17_305, output: 10 };
  expect(await chargedFor(messagesPath, { model: "plain/m", stream: false }, whole(usage))).toEqual(charged);
});
