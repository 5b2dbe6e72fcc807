/** Models that a request names besides its own: each must be allowed and priced, held at the most expensive one, charged as answered. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startSimulators, type Simulators } from "../../simulators/index.ts";
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

let upstream: ScriptedUpstream;
let simulators: Simulators;
let gateway: Gateway;
let token: string;
let listed: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  simulators = await startSimulators();
  const provider = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: {
      anthropic: { kind: "anthropic", ...provider },
      simulated: { kind: "anthropic", base_url: simulators.providers.anthropic, api_key: "unused" },
      openai: { kind: "openai", ...provider },
      openrouter: { kind: "openai-compatible", preset: "openrouter", ...provider },
    },
    config: {
      pricing: {
        models: {
          "openrouter/small": { input_mtok: 1, output_mtok: 2 },
          "openrouter/large": { input_mtok: 100, output_mtok: 200 },
          "openrouter/openrouter/auto": { input_mtok: 1, output_mtok: 2 },
        },
      },
    },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
  listed = await gateway.token({
    user: "bob",
    credits: 1_000_000_000_000n,
    models: ["*/claude-haiku-*", "openai/gpt-5*", "openrouter/small", "*/auto"],
  });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
  await simulators.stop();
});

async function call(path: string, body: object, by = token): Promise<{ answer: Response; text: string }> {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${by}`,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "server-side-fallback-2026-07-01",
    },
    body: JSON.stringify(body),
  });
  return { answer, text: await answer.text() };
}

async function recordOf({ headers }: Response): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway.url}/v1/generations/${headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as Record<string, unknown>;
}

const haiku = "anthropic/claude-haiku-5-5";
const hello = [{ role: "user", content: "hi" }];

function message(model: string, usage: object): Response {
  const content = [{ type: "text", text: "Hi." }];
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: "end_turn",
    usage,
  });
}

const counts = {
  input_tokens: 20_000,
  output_tokens: 1_000,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
const byOpus = {
  ...counts,
  iterations: [
    { type: "message", model: "claude-haiku-5-5", ...counts, output_tokens: 0 },
    { type: "fallback_message", model: "claude-opus-5-5", ...counts },
  ],
};
const fallbacks = [{ model: "claude-opus-5-5" }];

describe("a fallback", () => {
  test("is charged at its own price, and held at the most expensive one", async () => {
    upstream.answerWith(() => message("claude-opus-5-5", byOpus));
    const poor = await gateway.token({ user: "poor", credits: 500_000_000n });
    const ask = { model: haiku, max_tokens: 2_000, fallbacks, messages: hello };
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await call(messagesPath, ask, poor)).answer.status);
    // 20,000 × 4 + 1,000 × 20 per million are 0.1 each.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 402]);
    const { answer } = await call(messagesPath, ask);
    expect(await recordOf(answer)).toMatchObject({ credits: 0.1 });
  });

  test("in a stream is charged at its own price", async () => {
    const events = [
      {
        type: "message_start",
        message: { id: "msg_1", model: "claude-haiku-5-5", usage: { ...counts, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: byOpus },
      { type: "message_stop" },
    ];
    const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    upstream.answerWith(() => new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    const { answer } = await call(messagesPath, {
      model: haiku,
      max_tokens: 2_000,
      fallbacks,
      messages: hello,
      stream: true,
    });
    expect(await recordOf(answer)).toMatchObject({ credits: 0.1, outcome: "complete" });
  });

  test("that does not answer costs nothing", async () => {
    upstream.answerWith(() => message("claude-haiku-5-5", counts));
    const { answer } = await call(messagesPath, { model: haiku, max_tokens: 2_000, fallbacks, messages: hello });
    // 20,000 × 0.1 + 1,000 × 0.5 per million.
    expect(await recordOf(answer)).toMatchObject({ credits: 0.0025 });
  });

  test("chosen by the provider is charged by what the answer names", async () => {
    upstream.answerWith(() => message("claude-opus-5-5", byOpus));
    const ask = { model: haiku, max_tokens: 2_000, fallbacks: "default", messages: hello };
    const { answer } = await call(messagesPath, ask);
    expect(await recordOf(answer)).toMatchObject({ credits: 0.1 });
  });

  test("of the simulator is told and charged", async () => {
    const ask = {
      model: "simulated/claude-fable-5",
      max_tokens: 100,
      messages: [{ role: "user", content: "refuse:bio" }],
    };
    const { answer, text } = await call(messagesPath, { ...ask, fallbacks: [{ model: "claude-haiku-4-5" }] });
    const { model, usage } = JSON.parse(text) as {
      model: string;
      usage: { input_tokens: number; output_tokens: number };
    };
    expect(model).toBe("claude-haiku-4-5");
    // 1 and 5 per million.
    const credits = (usage.input_tokens + usage.output_tokens * 5) / 1e6;
    expect(Number((await recordOf(answer))["credits"])).toBeCloseTo(credits, 9);
  });
});

describe("a token with a list of models", () => {
  const advisor = { type: "advisor_20260301", name: "advisor", model: "claude-opus-5" };
  const ask = { model: haiku, max_tokens: 200, messages: hello };
  const image = { type: "image_generation", model: "gpt-image-1-mini" };

  test.each<[string, string, object, number, string]>([
    [
      "a fallback",
      messagesPath,
      { ...ask, fallbacks: [{ model: "claude-haiku-4-5" }, ...fallbacks] },
      404,
      "claude-opus-5-5",
    ],
    ["an advisor", messagesPath, { ...ask, tools: [advisor] }, 404, "claude-opus-5"],
    ["a fallback that the provider chooses", messagesPath, { ...ask, fallbacks: "default" }, 422, "fallbacks: "],
    [
      "another model of OpenRouter's",
      chatPath,
      { model: "openrouter/small", messages: hello, models: ["large"] },
      404,
      "large",
    ],
    ["a router", chatPath, { model: "openrouter/openrouter/auto", messages: hello }, 422, "model: "],
    [
      "the model of a tool",
      responsesPath,
      { model: "openai/gpt-5", input: "hi", tools: [image] },
      404,
      "gpt-image-1-mini",
    ],
  ])("is not passed round by %s", async (_title, path, body, status, named) => {
    upstream.answerWith(() => new Response("never", { status: 500 }));
    const { answer, text } = await call(path, body, listed);
    expect([answer.status, upstream.requests.length]).toEqual([status, 0]);
    expect(text).toContain(named);
  });

  test("allows the models that it lists", async () => {
    upstream.answerWith(() => message("claude-haiku-4-5", counts));
    const tools = [{ ...advisor, model: "claude-haiku-4-5" }];
    const { answer } = await call(messagesPath, { ...ask, fallbacks: [{ model: "claude-haiku-4-5" }], tools }, listed);
    expect(answer.status).toBe(200);
  });
});

describe("a model without a price", () => {
  const ask = { model: haiku, max_tokens: 200, messages: hello };
  test.each<[string, object, string]>([
    ["another model", { model: "openrouter/small", models: ["mystery"] }, 'pricing.models.\\"openrouter/mystery\\"'],
    ["a fallback", { fallbacks: [{ model: "claude-mystery-9" }] }, 'pricing.models.\\"anthropic/claude-mystery-9\\"'],
    [
      "an advisor",
      { tools: [{ type: "advisor_20260301", name: "advisor", model: "claude-mystery-9" }] },
      'pricing.models.\\"anthropic/claude-mystery-9\\"',
    ],
    ["the speed of a fallback", { fallbacks: [{ model: "claude-haiku-4-5", speed: "fast" }] }, "service_tiers.fast"],
  ])("is refused as %s", async (_title, more, key) => {
    upstream.answerWith(() => new Response("never", { status: 500 }));
    const { answer, text } = await call("models" in more ? chatPath : messagesPath, { ...ask, ...more });
    expect([answer.status, upstream.requests.length]).toEqual([422, 0]);
    expect(text).toContain(key);
  });
});

test("the advice of a more expensive model is held and charged at its price", async () => {
  const advice = { type: "advisor_message", model: "claude-opus-5", input_tokens: 1_000, output_tokens: 100 };
  upstream.answerWith(() =>
    message("claude-haiku-5-5", { ...counts, iterations: [{ type: "message", ...counts }, advice] }),
  );
  const tools = [{ type: "advisor_20260301", name: "advisor", model: "claude-opus-5", max_uses: 1, max_tokens: 2_048 }];
  const ask = { model: haiku, max_tokens: 200, messages: hello, tools };
  const { answer } = await call(messagesPath, ask);
  // As without it 0.0025, and 1,000 × 5 + 100 × 25 per million.
  expect(await recordOf(answer)).toMatchObject({ credits: 0.01 });
  // 2,048 × 25 per million alone are 0.0512.
  const poor = await gateway.token({ user: "poor-advised", credits: 50_000_000n });
  expect((await call(messagesPath, ask, poor)).answer.status).toBe(402);
});

describe("a model that answers in place of another", () => {
  const ask = { model: "openrouter/small", max_tokens: 1_000, messages: hello, models: ["large"] };
  const answerOf = (model: string, more: object = {}) =>
    Response.json({
      id: "c",
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000, ...more },
    });

  test.each<[string, object, number]>([
    // 1,000 × 100 + 1,000 × 200 per million.
    ["large", {}, 0.3],
    ["small", {}, 0.003],
    // The provider's own figure wins.
    ["large", { cost: 0.21 }, 0.21],
    // A dated name of the requested model has no price of its own.
    ["small-2026-11-01", {}, 0.003],
  ])("%s %j is charged as the answer tells", async (model, more, credits) => {
    upstream.answerWith(() => answerOf(model, more));
    expect(await recordOf((await call(chatPath, ask)).answer)).toMatchObject({ credits });
  });

  test("is held at the most expensive one", async () => {
    upstream.answerWith(() => answerOf("large"));
    const poor = await gateway.token({ user: "poor-routed", credits: 40_000_000n });
    const { answer } = await call(chatPath, { ...ask, max_tokens: 256 }, poor);
    // 256 × 200 per million are 0.0512, which does not fit.
    expect([answer.status, upstream.requests.length]).toEqual([402, 0]);
    expect((await call(chatPath, { ...ask, max_tokens: 256, models: [] }, poor)).answer.status).toBe(200);
  });

  test("is held whole in a stream too: what passes does not tell its price", async () => {
    upstream.answerWith(() => new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } }));
    const poor = await gateway.token({ user: "poor-streamed", credits: 200_000_000n });
    const { answer } = await call(chatPath, { ...ask, max_tokens: 5_000, stream: true }, poor);
    // Less than 0.2 / 200 per million.
    expect(Number(answer.headers.get("x-tollgate-max-output-tokens"))).toBeWithin(950, 1_000);
  });

  test("chosen by a router is charged as the answer tells", async () => {
    upstream.answerWith(() => answerOf("large"));
    const { answer } = await call(chatPath, { ...ask, model: "openrouter/openrouter/auto", models: undefined });
    expect(await recordOf(answer)).toMatchObject({ credits: 0.3 });
  });
});
