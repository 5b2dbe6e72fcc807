/** Compares our integer sums with genai-prices' own, for models of each provider whose prices it lists as we do. */
import { calcPrice } from "@pydantic/genai-prices";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, outputTokens, type Usage } from "../core/index.ts";
import { chargeFor } from "./model-price.ts";
import { PriceBook } from "./price-book.ts";

/** A time at which every price below is in force. */
const at = Date.UTC(2026, 10, 20, 12);
const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => at });

/** The library's counts are totals that include other counts; our buckets are disjoint. */
function libraryUsage(usage: Usage): Record<string, number> {
  const { cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, inputAudio = 0, reasoning = 0, outputAudio = 0 } = usage;
  return {
    input_tokens: inputTokens(usage),
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite5m + cacheWrite1h,
    cache_write_1h_tokens: cacheWrite1h,
    input_audio_tokens: inputAudio,
    output_tokens: outputTokens(usage),
    output_reasoning_tokens: reasoning,
    output_audio_tokens: outputAudio,
  };
}

function librarySum(provider: string, model: string, usage: Usage): number {
  const counts = Object.fromEntries(Object.entries(libraryUsage(usage)).filter(([, count]) => count > 0));
  const found = calcPrice(counts, model, { providerId: provider, timestamp: new Date(at) });
  if (found === null) throw new Error(`${provider} has no ${model}`);
  return found.total_price;
}

function ourSum(provider: string, model: string, usage: Usage): number {
  const price = book.lookup({ id: `${provider}/${model}`, model, priceProvider: provider });
  if (price === undefined) throw new Error(`${provider} has no ${model}`);
  return Number(chargeFor(price, { usage: { ...usage, requests: 1 } })) / 1e9;
}

/** Allows for one nano-credit of rounding up, and for the error of floats in sums of hundreds of credits. */
function expectSame(provider: string, model: string, usage: Usage): void {
  const expected = librarySum(provider, model, usage);
  const tolerance = 1e-9 + expected * 1e-12;
  expect(Math.abs(ourSum(provider, model, usage) - expected)).toBeLessThanOrEqual(tolerance);
}

const text: Usage = { input: 12_345, output: 6_789 };
const cached: Usage = { input: 1_001, cacheRead: 50_003, output: 777 };
const long: Usage = { input: 150_000, cacheRead: 130_001, output: 4_321 };

const rows: [provider: string, model: string, usages: Usage[]][] = [
  ["openai", "gpt-4o", [text, cached]],
  ["openai", "gpt-4o-mini", [text, cached, { input: 1, output: 1 }]],
  ["openai", "gpt-5-mini", [text, cached]],
  ["openai", "gpt-5.4", [text, cached, long, { input: 271_999, output: 1 }, { input: 272_001, output: 1 }]],
  ["openai", "o3", [text, { input: 10, output: 5, reasoning: 5_000 }]],
  ["openai", "gpt-audio", [{ input: 100, inputAudio: 2_000, output: 50, outputAudio: 900 }]],
  ["anthropic", "claude-haiku-4-5", [text, cached, { input: 3, cacheRead: 10_000, cacheWrite5m: 2_000, output: 40 }]],
  [
    "anthropic",
    "claude-sonnet-4-5",
    [text, long, { input: 10, cacheWrite1h: 5_000, cacheWrite5m: 700, cacheRead: 90, output: 4 }],
  ],
  ["anthropic", "claude-opus-5", [text, { input: 10, cacheWrite1h: 5_000, output: 4 }]],
  ["google", "gemini-2.5-pro", [text, cached, long, { input: 200_000, output: 1 }, { input: 200_001, output: 1 }]],
  ["google", "gemini-2.5-flash", [text, cached, { input: 500, inputAudio: 1_500, output: 20 }]],
  ["google", "gemini-3.8-flash", [text, cached]],
  ["x-ai", "grok-4.20", [text, cached, long]],
  ["x-ai", "grok-3-mini", [text, cached, { input: 32, output: 9, reasoning: 94 }]],
  ["moonshotai", "kimi-k3", [text, cached]],
  ["groq", "openai/gpt-oss-120b", [text, cached]],
  ["mistral", "mistral-large-2512", [text, cached]],
  ["mistral", "ministral-8b-latest", [text, cached]],
];

test("exactly 272,000 tokens are not more than that", () => {
  // genai-prices has 271,999 as the start of the higher tier.
  const most = ourSum("openai", "gpt-5.4", { input: 272_000 });
  expect(most / ourSum("openai", "gpt-5.4", { input: 100_000 })).toBeCloseTo(2.72, 9);
  expect(ourSum("openai", "gpt-5.4", { input: 272_001 }) / most).toBeGreaterThan(1.5);
});

describe.each(rows)("%s %s", (provider, model, usages) => {
  test("costs the same by both calculations", () => {
    for (const usage of usages) expectSame(provider, model, usage);
    // The sums are not zero.
    expect(librarySum(provider, model, text)).toBeGreaterThan(0);
  });

  test("costs the same by both calculations for any usage of text", () => {
    const tokens = fc.oneof(fc.nat(500), fc.nat(400_000));
    const usage = fc.record({ input: tokens, cacheRead: tokens, output: tokens });
    fc.assert(
      fc.property(usage, (each) => expectSame(provider, model, each)),
      { numRuns: 40 },
    );
  });
});

test("some of the models have tiered prices", () => {
  const tiered = rows.filter(([provider, model]) => {
    const price = book.lookup({ id: `${provider}/${model}`, model, priceProvider: provider });
    return price !== undefined && price.rates.input.tiers.length > 0;
  });
  expect(tiered.length).toBeGreaterThanOrEqual(4);
});
