/** Everything that a provider bills besides plain tokens is charged, or refused before the call: worked out by hand. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  chatPath,
  expectCleanAudit,
  expectRefusal,
  type Gateway,
  messagesPath,
  responsesPath,
  root,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const provider = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: {
      openai: { kind: "openai", ...provider },
      anthropic: { kind: "anthropic", ...provider },
      google: { kind: "google", ...provider },
      own: { kind: "openai-compatible", ...provider },
      zone: { kind: "openai-compatible", preset: "openrouter", price_factor: 1.25, ...provider },
    },
    config: {
      pricing: {
        models: {
          "zone/plain": { input_mtok: 1, output_mtok: 10 },
          "own/plain": { input_mtok: 1, output_mtok: 10 },
          "own/free": { input_mtok: 0, output_mtok: 0 },
          "own/tiers": {
            input_mtok: 1,
            output_mtok: 10,
            service_tiers: { priority: { input_mtok: 2, output_mtok: 25 }, flex: 0.5 },
          },
        },
      },
    },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
});

const recording = (file: string): Buffer => readFileSync(join(root, "test/recordings/answers", file));

const typeOf = (file: string): string => (file.endsWith(".sse") ? "text/event-stream" : "application/json");

async function call(path: string, body: object): Promise<{ answer: Response; text: string }> {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { answer, text: await answer.text() };
}

/** The record of a call. */
async function recordOf({ headers }: Response): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway.url}/v1/generations/${headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as Record<string, unknown>;
}

const hello = [{ role: "user", content: "hi" }];

describe("recorded answers of hosted tools", () => {
  const search = [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }];

  test.each<[string, string, object, number]>([
    // 10,809 × 3 + 644 × 15 per million, and a search.
    ["281.json", messagesPath, { model: "anthropic/claude-sonnet-4-6", tools: search }, 0.052087],
    // 22,397 × 3 + 637 × 15 per million, and two searches.
    ["596.sse", messagesPath, { model: "anthropic/claude-sonnet-4-0", tools: search, stream: true }, 0.096746],
    // 16,083 × 3 + 165 × 15 per million, and a search.
    ["620.json", messagesPath, { model: "anthropic/claude-sonnet-4-5", tools: search }, 0.060724],
    // 4,158 × 4 + 4,418 written to the cache × 5 + 52 × 20 per million, and a search.
    ["399.json", responsesPath, { model: "openai/gpt-5.6", tools: [{ type: "web_search" }] }, 0.049762],
    // 8,614 × 1.75 + 95 × 14 per million, and a search.
    ["2145.json", responsesPath, { model: "openai/gpt-5.2", tools: [{ type: "web_search" }] }, 0.0264045],
  ])("%s", async (file, path, body, credits) => {
    upstream.answerWith(() => new Response(recording(file), { headers: { "content-type": typeOf(file) } }));
    const input = path === messagesPath ? { messages: hello, max_tokens: 5_000 } : { input: "hi", store: false };
    const { answer } = await call(path, { ...input, ...body });
    expect(answer.status).toBe(200);
    expect(await recordOf(answer)).toMatchObject({ credits, outcome: "complete" });
  });
});

describe("a service tier", () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
  const completion = (service_tier?: string) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    service_tier,
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage,
  });
  const chunks = (service_tier?: string): string =>
    [
      { choices: [{ index: 0, delta: { content: "Hi." } }], service_tier },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], service_tier },
      { choices: [], usage, service_tier },
    ]
      .map((chunk) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...chunk })}\n\n`)
      .join("") + "data: [DONE]\n\n";

  // Usual: 1,000 × 1 + 100 × 10; priority: 1,000 × 2 + 100 × 25; flex: half.
  const cases: [string, string | undefined, string | undefined, number, string | undefined][] = [
    ["asked for and named", "priority", "priority", 0.0045, "priority"],
    ["asked for, and not named", "priority", undefined, 0.0045, "priority"],
    ["asked for, and not given", "priority", "default", 0.002, undefined],
    ["given without a request", undefined, "priority", 0.0045, "priority"],
    ["given by an automatic choice", "auto", "flex", 0.001, "flex"],
    ["cheaper", "flex", "flex", 0.001, "flex"],
    ["that the price does not know, given without a request", undefined, "scale", 0.002, undefined],
  ];

  test.each(cases)("%s, is charged as given", async (_title, asked, given, credits, recorded) => {
    upstream.answerWith(() => Response.json(completion(given)));
    const whole = await call(chatPath, { model: "own/tiers", messages: hello, service_tier: asked });
    expect(whole.answer.headers.get("x-tollgate-credits")).toBe(String(credits));
    const record = await recordOf(whole.answer);
    expect([record["credits"], record["service_tier"]]).toEqual([credits, recorded]);

    upstream.answerWith(() => new Response(chunks(given), { headers: { "content-type": "text/event-stream" } }));
    const streamed = await call(chatPath, { model: "own/tiers", messages: hello, service_tier: asked, stream: true });
    expect(streamed.text).toContain("[DONE]");
    expect(await recordOf(streamed.answer)).toMatchObject({ credits });
  });

  test("is charged for a translated answer too", async () => {
    upstream.answerWith(() => Response.json(completion("priority")));
    const { answer } = await call(responsesPath, { model: "own/tiers", input: "hi", service_tier: "priority" });
    expect(await recordOf(answer)).toMatchObject({ credits: 0.0045, service_tier: "priority" });
  });

  test("is held at its own price", async () => {
    upstream.answerWith(() => Response.json(completion("priority")));
    const poor = await gateway.token({ user: "poor", credits: 6_000_000n });
    const ask = (service_tier: string) =>
      fetch(gateway.url + chatPath, {
        method: "POST",
        headers: { authorization: `Bearer ${poor}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "own/tiers", messages: hello, service_tier }),
      });
    // 256 tokens of output: 0.0064 at the price of priority, 0.00256 at the usual one.
    expect((await ask("priority")).status).toBe(402);
    expect((await ask("auto")).status).toBe(200);
  });
});

test("the factor of a provider is on its prices, and not on a cost that it reports", async () => {
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
  const completion = { id: "c", object: "chat.completion", model: "plain", choices };
  const ask = { model: "zone/plain", messages: hello };
  upstream.answerWith(() => Response.json({ ...completion, usage }));
  // 1.25 × (1,000 × 1 + 100 × 10) per million.
  expect(await recordOf((await call(chatPath, ask)).answer)).toMatchObject({ credits: 0.0025, list_credits: 0.0025 });
  upstream.answerWith(() => Response.json({ ...completion, usage: { ...usage, cost: 0.002 } }));
  expect(await recordOf((await call(chatPath, ask)).answer)).toMatchObject({ credits: 0.002 });
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
  expect(await models.text()).toContain('"output_mtok":12.5');
});

describe("without a price", () => {
  const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
  const cases: [string, string, object, string, string][] = [
    [
      "a service tier",
      chatPath,
      { model: "own/plain", messages: hello, service_tier: "priority" },
      "service_tier",
      'pricing.models."own/plain".service_tiers.priority',
    ],
    [
      "a place",
      messagesPath,
      { model: "anthropic/claude-haiku-4-5", max_tokens: 5, messages: hello, inference_geo: "mars" },
      "inference_geo",
      'pricing.models."anthropic/claude-haiku-4-5".inference_geos.mars',
    ],
    [
      "a speed",
      messagesPath,
      { model: "anthropic/claude-haiku-4-5", max_tokens: 5, messages: hello, speed: "fast" },
      "service_tier",
      'pricing.models."anthropic/claude-haiku-4-5".service_tiers.fast',
    ],
    [
      "sound",
      chatPath,
      { model: "openai/gpt-4o", messages: [{ role: "user", content: [sound] }] },
      "messages",
      'pricing.models."openai/gpt-4o".input_audio_mtok',
    ],
    [
      "an image model of a hosted tool",
      responsesPath,
      { model: "openai/gpt-5", input: "hi", tools: [{ type: "image_generation", model: "gpt-image-99" }] },
      "tools",
      'pricing.models."openai/gpt-image-99"',
    ],
  ];

  test.each(cases)("%s is refused before the call, with the key to set", async (_title, path, body, param, key) => {
    upstream.answerWith(() => new Response("never", { status: 500 }));
    const { answer, text } = await call(path, body);
    const { error } = JSON.parse(text) as { error: { message: string } };
    expect([answer.status, upstream.requests.length]).toEqual([422, 0]);
    expect(error.message).toStartWith(`${param}: `);
    expect(error.message).toContain(key);
    if (path === chatPath) {
      expectRefusal(answer, text, {
        status: 422,
        code: "validation_failed",
        param,
        message: "unpriced calls are refused",
      });
    }
  });

  test("everything is allowed of a model that is free", async () => {
    upstream.answerWith(() => Response.json({ choices: [], usage: {} }));
    const { answer } = await call(chatPath, { model: "own/free", messages: hello, service_tier: "priority" });
    expect(answer.status).toBe(200);
  });

  test("what is dropped on the way is not refused", async () => {
    upstream.answerWith(() => Response.json({ choices: [{ message: { content: "Hi." } }] }));
    const { answer } = await call(chatPath, {
      model: "google/gemini-2.5-flash",
      messages: hello,
      service_tier: "priority",
    });
    expect(answer.status).toBe(200);
    expect(JSON.parse(upstream.requests[0]?.body ?? "")).not.toHaveProperty("service_tier");
  });
});

test("a stream that breaks off after a first count is charged what has passed", async () => {
  const text = "word ".repeat(400);
  const chunk = (choice: object, usage?: object) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...(usage && { usage }) })}\n\n`;
  const early = { prompt_tokens: 1_000, completion_tokens: 1, total_tokens: 1_001 };
  upstream.answerWith(() => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from(chunk({ delta: { content: "word " } }, early)));
        controller.enqueue(Buffer.from(chunk({ delta: { content: text } })));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const { answer } = await call(chatPath, { model: "own/plain", messages: hello, stream: true });
  const { outcome, credits } = await recordOf(answer);
  expect(outcome).toBe("interrupted");
  // 1,000 × 1 for the input, and 1 + 2,000 / 4 tokens × 10; the first piece may count twice if they arrive together.
  expect(Number(credits)).toBeWithin(0.00601, 0.006031);
});
