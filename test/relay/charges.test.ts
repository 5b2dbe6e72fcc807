import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Caller, chatModels, chunksOf, flatPrice, type Rig, startRig, until, type Usage } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      pricing: {
        models: {
          "openai/dear-*": {
            input_mtok: 1,
            cache_read_mtok: 0.25,
            output_mtok: 2,
            output_reasoning_mtok: 5,
            requests_kcount: 4,
          },
          "*": flatPrice,
        },
      },
    },
  });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

/** Nano-credits a token under `flatPrice`: 1 and 2 credits per million. */
const [inputNano, outputNano] = [1_000n, 2_000n];

/** How each provider counts output, calculated by hand from its documentation. */
const outputTokens: Record<string, (usage: Usage) => number> = {
  openai: (usage) => usage.completion_tokens,
  // Thinking is only in the total.
  google: (usage) => usage.total_tokens - usage.prompt_tokens,
  deepseek: (usage) => usage.completion_tokens,
  anthropic: (usage) => usage.completion_tokens,
  mistral: (usage) => usage.completion_tokens,
  byteplus: (usage) => usage.completion_tokens,
};

function flatCharge(provider: string, usage: Usage): bigint {
  // xAI names the real price; a tick is a tenth of a nano-dollar.
  if (provider === "xai") return BigInt(Math.ceil((usage.cost_in_usd_ticks ?? Number.NaN) / 10));
  const counted = outputTokens[provider]?.(usage) ?? Number.NaN;
  return BigInt(usage.prompt_tokens) * inputNano + BigInt(counted) * outputNano;
}

/** Fields that make a provider think before it answers. */
const thinking: Record<string, object> = {
  openai: { reasoning_effort: "high" },
  google: { reasoning_effort: "high" },
  xai: { model: "xai/grok-4.3", reasoning_effort: "high" },
  deepseek: { thinking: { type: "enabled" } },
  anthropic: { thinking: { type: "enabled", budget_tokens: 1024 } },
  mistral: { reasoning_effort: "high" },
  byteplus: { thinking: { type: "enabled" } },
};

const bodyFor = (provider: string, more: object = {}): { model: string | undefined; messages: object[] } => ({
  model: chatModels[provider],
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "words:120" },
  ],
  ...more,
});

function creditsOf(response: Response): bigint {
  return BigInt(Math.round(Number(response.headers.get("x-tollgate-credits")) * 1e9));
}

/** The `credits` of the one log line of a call, in nano-credits. */
async function loggedCredits(requestId: string | null): Promise<bigint> {
  const line = await until("the call's log line", () =>
    rig.gateway.logLines().find((candidate) => candidate["request_id"] === requestId && candidate["msg"] === "call"),
  );
  return BigInt(Math.round(Number(line["credits"]) * 1e9));
}

describe.each(Object.keys(chatModels))("%s", (provider) => {
  test.each([
    ["a plain answer", {}],
    ["an answer with thinking", thinking[provider] ?? {}],
  ])("%s costs its usage, streamed or not", async (_what, more) => {
    const body = bodyFor(provider, more);
    const model = body.model?.slice(provider.length + 1);
    const direct = (await (await rig.direct(provider, { ...body, model })).json()) as {
      usage: Usage;
    };
    const expected = flatCharge(provider, direct.usage);
    expect(expected).toBeGreaterThan(100_000n);

    const whole = await rig.caller();
    const answer = await whole.chat(bodyFor(provider, more));
    await answer.text();
    expect(creditsOf(answer)).toBe(expected);
    expect(await whole.closed()).toBe(expected);

    for (const options of [{}, { stream_options: { include_usage: true } }]) {
      const streamed = await rig.caller();
      const response = await streamed.chat(
        bodyFor(provider, { ...more, stream: true, ...(provider === "mistral" ? {} : options) }),
      );
      await response.text();
      expect(response.headers.has("x-tollgate-credits")).toBe(false);
      expect(await streamed.closed()).toBe(expected);
    }
  });

  test("an answer without usage costs an estimate by its length, whole or streamed", async () => {
    const model = `${chatModels[provider]}+no-usage`;
    const whole = await rig.caller();
    const answer = await whole.chat(bodyFor(provider, { model }));
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain('"usage"');
    const estimate = await charged(whole);
    expect(creditsOf(answer)).toBe(BigInt(estimate));
    // 120 words of about six letters are 800 bytes; four bytes are a token.
    expect(estimate).toBeWithin(150 * Number(outputNano), 250 * Number(outputNano));

    const streamed = await rig.caller();
    const events = await (await streamed.chat(bodyFor(provider, { model, stream: true }))).text();
    expect(chunksOf(events).every((chunk) => (chunk.usage ?? null) === null)).toBe(true);
    expect(await charged(streamed)).toBe(estimate);
  });
});

async function charged(caller: Caller): Promise<number> {
  return Number(await caller.closed());
}

test("a call by hand: five tokens in, ten out", async () => {
  const caller = await rig.caller();
  const answer = await caller.chat({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] });
  const { usage } = (await answer.json()) as { usage: Usage };
  expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 10 });
  expect(answer.headers.get("x-tollgate-credits")).toBe("0.000025");
  expect(await caller.closed()).toBe(25_000n);
  expect(await loggedCredits(answer.headers.get("x-request-id"))).toBe(25_000n);
});

test("cached and reasoning tokens and calls have prices of their own", async () => {
  const caller = await rig.caller();
  const body = {
    model: "openai/dear-model",
    // Over 4,096 characters of system prompt count as cached: 5,000 / 4 = 1,250 tokens.
    messages: [
      { role: "system", content: "s".repeat(5_000) },
      { role: "user", content: "words:10" },
    ],
    reasoning_effort: "high",
  };
  const answer = await caller.chat(body);
  const { usage } = (await answer.json()) as { usage: Usage & { prompt_tokens_details: { cached_tokens: number } } };
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  expect(usage.prompt_tokens_details.cached_tokens).toBe(1_250);
  expect(usage.completion_tokens).toBe(10 + reasoning);
  expect(reasoning).toBeGreaterThan(0);
  const plainInput = usage.prompt_tokens - 1_250;
  const expected = plainInput * 1_000 + 1_250 * 250 + 10 * 2_000 + reasoning * 5_000 + 4_000_000;
  expect(await charged(caller)).toBe(expected);
});

test("a call refused by an upstream costs nothing, as its header shows", async () => {
  const caller = await rig.caller();
  const answer = await caller.chat({
    model: "openai/gpt-4o-mini+status-400",
    messages: [{ role: "user", content: "Hello!" }],
  });
  expect(answer.status).toBe(400);
  expect(answer.headers.get("x-tollgate-credits")).toBe("0");
  expect(await caller.closed()).toBe(0n);
});

test("an error under status 200 is relayed and costs nothing", async () => {
  const caller = await rig.caller();
  const answer = await caller.chat({
    model: "openai/gpt-4o-mini+error-200",
    messages: [{ role: "user", content: "Hello!" }],
  });
  expect(answer.status).toBe(200);
  expect(Object.keys((await answer.json()) as object)).toEqual(["error"]);
  expect(answer.headers.get("x-tollgate-credits")).toBe("0");
  expect(await caller.closed()).toBe(0n);
});

test("while a call runs, at least its cost is held", async () => {
  const caller = await rig.caller();
  const running = caller.chat({
    model: "openai/gpt-4o-mini+slow-300",
    messages: [{ role: "user", content: "words:50" }],
    max_tokens: 100,
  });
  const held = await until("a hold", async () => {
    const books = await caller.books();
    return books.held > 0n && books.held;
  });
  expect((await caller.books()).spent).toBe(0n);
  await (await running).text();
  const spent = await caller.closed();
  expect(held).toBeGreaterThanOrEqual(spent);
  // The bound: a token a byte going in, with some for the template, and max_tokens coming out.
  expect(held).toBeLessThan(BigInt(8 + 16 + 100) * outputNano + 1n);
  expect(spent).toBeGreaterThan(100_000n);
});
