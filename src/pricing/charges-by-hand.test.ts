/**
 * What calls cost by the built-in catalog, worked out by hand from the providers' price pages. One row a call: the
 * model, its usage, and the charge as the sum of units × price. A charge of tokens is in millionths of a credit, since
 * prices are for a million tokens.
 */
import { describe, expect, test } from "bun:test";
import type { MediaVariant, PriceTerms, Usage } from "../core/index.ts";
import { chargeFor } from "./model-price.ts";
import { PriceBook } from "./price-book.ts";

/** A charge in millionths of a credit, as nano-credits; a fraction of a nano-credit costs a whole one. */
const millionths = (sum: number): bigint => BigInt(Math.ceil(Number((sum * 1_000).toFixed(6))));

/** A charge in credits. */
const credits = (sum: number): bigint => millionths(sum * 1_000_000);

/** A Tuesday, at noon in UTC: off-peak at DeepSeek. */
const NOON = "2026-11-24T12:00Z";

type Row = [
  model: string,
  usage: Usage,
  charge: bigint,
  options?: { at?: string; variant?: MediaVariant; terms?: PriceTerms },
];

const openai: Row[] = [
  ["gpt-4o", { input: 1_000, output: 200 }, millionths(1_000 * 2.5 + 200 * 10)],
  ["gpt-4o-2024-08-06", { input: 1_000, cacheRead: 4_000 }, millionths(1_000 * 2.5 + 4_000 * 1.25)],
  ["gpt-4o-2024-05-13", { input: 1_000, output: 200 }, millionths(1_000 * 5 + 200 * 15)],
  ["gpt-4o-mini", { input: 7, cacheRead: 1_024, output: 3 }, millionths(7 * 0.15 + 1_024 * 0.075 + 3 * 0.6)],
  ["gpt-4.1", { input: 1_000, output: 100 }, millionths(1_000 * 2 + 100 * 8)],
  ["gpt-4.1-nano", { input: 1_000, output: 100 }, millionths(1_000 * 0.1 + 100 * 0.4)],
  // Reasoning is output.
  ["gpt-5-mini", { input: 500, output: 20, reasoning: 300 }, millionths(500 * 0.25 + 320 * 2)],
  ["gpt-5-nano", { input: 1_000, output: 1_000 }, millionths(1_000 * 0.05 + 1_000 * 0.4)],
  ["gpt-5-pro", { input: 100, output: 10, reasoning: 990 }, millionths(100 * 15 + 1_000 * 120)],
  ["gpt-5.1-codex", { input: 1_000, cacheRead: 500, output: 10 }, millionths(1_000 * 1.25 + 500 * 0.125 + 10 * 10)],
  ["gpt-5.2-2025-12-11", { input: 1_000, output: 100 }, millionths(1_000 * 1.75 + 100 * 14)],
  // Up to 272,000 input tokens, cached ones included, the lower prices apply to the whole call.
  ["gpt-5.4", { input: 272_000, output: 100 }, millionths(272_000 * 2.5 + 100 * 15)],
  ["gpt-5.4", { input: 272_001, output: 100 }, millionths(272_001 * 5 + 100 * 22.5)],
  ["gpt-5.5", { input: 72_000, cacheRead: 200_001, output: 10 }, millionths(72_000 * 10 + 200_001 * 1 + 10 * 45)],
  ["gpt-5.6", { input: 1_000, output: 100 }, millionths(1_000 * 4 + 100 * 20)],
  ["gpt-5.6-luna", { input: 1_000, cacheWrite5m: 1_000 }, millionths(1_000 * 0.2 + 1_000 * 0.25)],
  ["gpt-6-astra", { input: 300_000, output: 10 }, millionths(300_000 * 20 + 10 * 75)],
  [
    "gpt-6.1-sol",
    { input: 1_000, cacheRead: 9_000, cacheWrite5m: 400, output: 100 },
    millionths(1_000 * 2 + 9_000 * 0.1 + 400 * 2.5 + 100 * 10),
  ],
  ["gpt-6.1-sol", { input: 272_001, output: 100 }, millionths(272_001 * 4 + 100 * 15)],
  ["o3", { input: 10, output: 5, reasoning: 5_000 }, millionths(10 * 2 + 5_005 * 8)],
  ["o4-mini", { input: 100, cacheRead: 100, output: 10 }, millionths(100 * 1.1 + 100 * 0.275 + 10 * 4.4)],
  [
    "gpt-4o-audio-preview",
    { input: 100, inputAudio: 2_000, output: 50, outputAudio: 900 },
    millionths(100 * 2.5 + 2_000 * 40 + 50 * 10 + 900 * 80),
  ],
  [
    "gpt-4o-mini-audio-preview",
    { input: 100, inputAudio: 2_000, output: 50, outputAudio: 900 },
    millionths(100 * 0.15 + 2_000 * 10 + 50 * 0.6 + 900 * 20),
  ],
  ["gpt-audio", { inputAudio: 1_000, outputAudio: 100 }, millionths(1_000 * 32 + 100 * 64)],
  [
    "gpt-realtime-2.1",
    { input: 100, inputAudio: 500, cacheAudioRead: 1_000, inputImage: 200, outputAudio: 50, output: 10 },
    millionths(100 * 4 + 500 * 32 + 1_000 * 0.4 + 200 * 5 + 50 * 64 + 10 * 24),
  ],
  ["text-embedding-3-small", { input: 7 }, millionths(7 * 0.02)],
  ["text-embedding-3-large", { input: 1_001 }, millionths(1_001 * 0.13)],
  [
    "gpt-image-1.5",
    { input: 50, inputImage: 164, cacheImageRead: 30, outputImage: 1_056, output: 8 },
    millionths(50 * 5 + 164 * 8 + 30 * 2 + 1_056 * 32 + 8 * 10),
  ],
  ["gpt-image-2", { input: 50, outputImage: 1_000 }, millionths(50 * 5 + 1_000 * 30)],
  ["dall-e-3", { images: 2 }, credits(2 * 0.12), { variant: { size: "1024x1792", quality: "hd" } }],
  ["tts-1-hd", { inputCharacters: 250 }, millionths(250 * 30)],
  ["gpt-4o-mini-tts", { input: 20, outputAudio: 150 }, millionths(20 * 0.6 + 150 * 12)],
  ["whisper-1", { inputAudioMs: 90_000 }, credits((90 / 3_600) * 0.36)],
  ["gpt-transcribe", { inputAudioMs: 3_600_000 }, credits(0.27)],
  ["gpt-4o-transcribe", { input: 14, inputAudio: 300, output: 45 }, millionths(14 * 2.5 + 300 * 2.5 + 45 * 10)],
];

const anthropic: Row[] = [
  ["claude-haiku-4-5", { input: 1_000, output: 100 }, millionths(1_000 * 1 + 100 * 5)],
  [
    "claude-sonnet-4-5-20250929",
    { input: 10, cacheRead: 90, cacheWrite5m: 700, cacheWrite1h: 5_000, output: 4 },
    millionths(10 * 3 + 90 * 0.3 + 700 * 3.75 + 5_000 * 6 + 4 * 15),
  ],
  ["claude-sonnet-4-5", { input: 200_001, output: 10 }, millionths(200_001 * 6 + 10 * 22.5)],
  // Newer models cost the same for prompts of any length.
  ["claude-opus-4-6", { input: 300_000, output: 10 }, millionths(300_000 * 5 + 10 * 25)],
  ["claude-opus-5-5", { input: 100, cacheRead: 10_000, output: 10 }, millionths(100 * 4 + 10_000 * 0.2 + 10 * 20)],
  ["claude-sonnet-5-5", { cacheRead: 10_000, cacheWrite1h: 100 }, millionths(10_000 * 0.1 + 100 * 4)],
  ["claude-fable-5-2", { input: 100, output: 100 }, millionths(100 * 8 + 100 * 40)],
  ["claude-haiku-5-5", { input: 100_000, output: 100 }, millionths(100_000 * 0.1 + 100 * 0.5)],
  ["claude-haiku-5-5", { input: 1, cacheRead: 100_000, output: 100 }, millionths(1 * 0.5 + 100_000 * 0.05 + 100 * 2.5)],
  ["claude-opus-4-1-20250805", { input: 100, output: 100 }, millionths(100 * 15 + 100 * 75)],
];

const google: Row[] = [
  ["gemini-2.5-pro", { input: 200_000, output: 10 }, millionths(200_000 * 1.25 + 10 * 10)],
  [
    "gemini-2.5-pro",
    { input: 150_000, cacheRead: 50_001, output: 10 },
    millionths(150_000 * 2.5 + 50_001 * 0.25 + 10 * 15),
  ],
  ["gemini-2.5-flash", { input: 500, inputAudio: 1_500, output: 20 }, millionths(500 * 0.3 + 1_500 * 1 + 20 * 2.5)],
  ["gemini-2.5-flash", { cacheRead: 500, cacheAudioRead: 100 }, millionths(500 * 0.03 + 100 * 0.1)],
  ["gemini-3.8-flash", { input: 1_000, output: 100 }, millionths(1_000 * 0.75 + 100 * 3.75)],
  // The introductory prices end with the year.
  ["gemini-3.8-flash", { input: 1_000, output: 100 }, millionths(1_000 * 1.5 + 100 * 7.5), { at: "2027-01-01T00:00Z" }],
  ["gemini-4-argon", { input: 1_000, cacheRead: 1_000, reasoning: 50 }, millionths(1_000 * 2 + 1_000 * 0.1 + 50 * 10)],
  ["gemini-2.5-flash-image", { input: 8, outputImage: 1_290 }, millionths(8 * 0.3 + 1_290 * 30)],
  ["gemini-3.8-flash-tts", { input: 100, outputAudio: 250 }, millionths(100 * 0.5 + 250 * 9)],
  ["gemini-embedding-001", { input: 9 }, millionths(9 * 0.15)],
  ["gemini-embedding-2", { input: 10, inputImage: 20, inputAudio: 30 }, millionths(10 * 0.2 + 20 * 0.45 + 30 * 6.5)],
  ["imagen-3.0-generate-001", { images: 4 }, credits(4 * 0.04)],
  ["gemma-3-27b-it", { input: 10_000, output: 10_000 }, 0n],
];

const xai: Row[] = [
  ["grok-4.7", { input: 1_000, cacheRead: 1_000, reasoning: 10 }, millionths(1_000 * 2 + 1_000 * 0.5 + 10 * 6)],
  ["grok-4.7", { input: 200_001, output: 10 }, millionths(200_001 * 4 + 10 * 12)],
  ["grok-4-0709", { input: 100, output: 100 }, millionths(100 * 3 + 100 * 15)],
  ["grok-imagine-image", { images: 2, inputImages: 1 }, credits(2 * 0.02 + 1 * 0.002)],
  ["grok-tts", { inputCharacters: 200 }, millionths(200 * 15)],
  ["grok-stt", { inputAudioMs: 7_200_000 }, credits(2 * 0.1)],
];

const deepseek: Row[] = [
  [
    "deepseek-v4-pro",
    { input: 1_000, cacheRead: 1_000, output: 100 },
    millionths(1_000 * 0.66 + 1_000 * 0.022 + 100 * 1.98),
  ],
  [
    "deepseek-v4-pro",
    { input: 1_000, cacheRead: 1_000, output: 100 },
    millionths(1_000 * 1.32 + 1_000 * 0.044 + 100 * 3.96),
    { at: "2026-11-24T01:00Z" },
  ],
  ["deepseek-flash", { input: 1_000, output: 100 }, millionths(1_000 * 0.3 + 100 * 1.2), { at: "2026-11-24T09:59Z" }],
  [
    "deepseek-v4-flash",
    { input: 1_000, output: 100 },
    millionths(1_000 * 0.15 + 100 * 0.6),
    { at: "2026-11-28T09:59Z" },
  ],
  ["deepseek-chat", { input: 1_000, cacheRead: 100, output: 10 }, millionths(1_000 * 0.28 + 100 * 0.028 + 10 * 0.42)],
];

const mistral: Row[] = [
  ["mistral-large-latest", { input: 1_000, output: 100 }, millionths(1_000 * 0.5 + 100 * 1.5)],
  ["mistral-large-4", { input: 1_000, cacheRead: 100, output: 100 }, millionths(1_000 * 0.7 + 100 * 0.07 + 100 * 2.1)],
  ["mistral-large-2411", { input: 1_000, output: 100 }, millionths(1_000 * 2 + 100 * 6)],
  ["mistral-medium", { input: 1_000, output: 100 }, millionths(1_000 * 1.5 + 100 * 7.5)],
  ["mistral-medium-2508", { input: 1_000, output: 100 }, millionths(1_000 * 0.4 + 100 * 2)],
  ["mistral-small-latest", { input: 1_000, output: 100 }, millionths(1_000 * 0.15 + 100 * 0.6)],
  ["magistral-medium-latest", { input: 1_000, output: 100 }, millionths(1_000 * 1.5 + 100 * 7.5)],
  ["codestral-embed", { input: 12 }, millionths(12 * 0.15)],
  ["voxtral-mini-latest", { inputAudioMs: 1_500 }, credits((1.5 / 3_600) * 0.18)],
  ["voxtral-mini-tts-2603", { inputCharacters: 250 }, millionths(250 * 16)],
];

const others: Record<string, Row[]> = {
  byteplus: [
    ["seed-1-8-251228", { input: 128_000, output: 10 }, millionths(128_000 * 0.25 + 10 * 2)],
    [
      "seed-1-8-251228",
      { input: 100_000, cacheRead: 28_001, output: 10 },
      millionths(100_000 * 0.5 + 28_001 * 0.05 + 10 * 4),
    ],
    ["seed-1-6-flash-250715", { input: 1_000, output: 10 }, millionths(1_000 * 0.075 + 10 * 0.3)],
    ["seedream-4-5-251128", { images: 3 }, credits(3 * 0.04)],
  ],
  openrouter: [
    ["openai/gpt-4o-mini", { input: 1_000, output: 100 }, millionths(1_000 * 0.15 + 100 * 0.6)],
    ["bytedance-seed/seed-1.6", { input: 1_000, output: 100 }, millionths(1_000 * 0.25 + 100 * 2)],
    ["agentica-org/deepcoder-14b-preview:free", { input: 1_000, output: 100 }, 0n],
  ],
  groq: [
    [
      "openai/gpt-oss-120b",
      { input: 100, cacheRead: 100, output: 10 },
      millionths(100 * 0.15 + 100 * 0.075 + 10 * 0.6),
    ],
    ["whisper-large-v3-turbo", { inputAudioMs: 3_600_000 }, credits(0.04)],
  ],
  moonshotai: [["kimi-k3", { input: 100, cacheRead: 100, output: 10 }, millionths(100 * 3 + 100 * 0.3 + 10 * 15)]],
  // The fee of a request comes on top of its tokens.
  perplexity: [["sonar", { input: 100, output: 10, requests: 1 }, millionths(100 * 1 + 10 * 1) + credits(12 / 1_000)]],
};

const priority = { terms: { serviceTier: "priority" } };
const flex = { terms: { serviceTier: "flex" } };
const fast = { terms: { serviceTier: "fast" } };
const us = { terms: { inferenceGeo: "us" } };

/** Service tiers, places and hosted tools. A tool costs as much in every tier. */
const extras: [provider: string, ...Row][] = [
  ["openai", "gpt-5", { input: 1_000, output: 100 }, millionths(1_000 * 2.5 + 100 * 20), priority],
  ["openai", "gpt-5", { input: 1_000, output: 100 }, millionths(1_000 * 0.625 + 100 * 5), flex],
  [
    "openai",
    "gpt-5.5",
    { input: 100, cacheRead: 1_000, output: 10 },
    millionths(100 * 12.5 + 1_000 * 1.25 + 10 * 75),
    priority,
  ],
  ["openai", "gpt-5.5", { input: 100, output: 10 }, millionths(100 * 2.5 + 10 * 15), flex],
  ["openai", "gpt-6.1-sol", { input: 300_000, output: 10 }, millionths(300_000 * 8 + 10 * 30), priority],
  [
    "openai",
    "gpt-4o",
    { input: 1_000, output: 100 },
    millionths(1_000 * 2.5 + 100 * 10),
    { terms: { serviceTier: "default" } },
  ],
  ["anthropic", "claude-opus-4-6", { input: 1_000, output: 100 }, millionths(1_000 * 30 + 100 * 150), fast],
  [
    "anthropic",
    "claude-opus-5",
    { input: 1_000, cacheRead: 1_000, output: 100 },
    millionths(1_000 * 10 + 1_000 * 1 + 100 * 50),
    fast,
  ],
  ["anthropic", "claude-opus-5", { input: 1_000, output: 100 }, millionths(1_000 * 5.5 + 100 * 27.5), us],
  [
    "anthropic",
    "claude-opus-5",
    { input: 1_000, output: 100, webSearches: 3 },
    millionths(1_000 * 11 + 100 * 55) + credits(0.03),
    { terms: { serviceTier: "fast", inferenceGeo: "us" } },
  ],
  [
    "anthropic",
    "claude-haiku-4-5",
    { input: 1_000, output: 100, webSearches: 10 },
    millionths(1_000 * 1 + 100 * 5) + credits(0.1),
  ],
  [
    "openai",
    "gpt-5-mini",
    { input: 1_000, output: 10, webSearches: 1, storageSearches: 2 },
    millionths(1_000 * 0.25 + 10 * 2) + credits(0.01 + 0.005),
  ],
  [
    "openai",
    "gpt-4o-search-preview",
    { input: 1_000, output: 10, webSearches: 1 },
    millionths(1_000 * 2.5 + 10 * 10) + credits(0.025),
  ],
  ["openai", "gpt-5.2", { input: 100, output: 10, containerGb: 4 }, millionths(100 * 1.75 + 10 * 14) + credits(0.12)],
  ["google", "gemini-2.5-pro", { input: 1_000, output: 100 }, millionths(1_000 * 2.25 + 100 * 18), priority],
];

const rows = Object.entries({ openai, anthropic, google, "x-ai": xai, deepseek, mistral, ...others });
for (const [provider, ...row] of extras) rows.find(([id]) => id === provider)?.[1].push(row);

describe.each(rows)("%s", (provider, calls) => {
  test.each(calls)("%s %j", (model, usage, charge, { at = NOON, variant, terms } = {}) => {
    const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => Date.parse(at) });
    const price = book.lookup({ id: `up/${model}`, model, priceProvider: provider });
    if (price === undefined) throw new Error(`${model} has no price`);
    expect(price.source).toBe("built-in");
    expect(chargeFor(price, { usage, ...(variant && { variant }), ...(terms && { terms }) })).toBe(charge);
  });
});

test("the table has more than sixty calls, of all providers", () => {
  expect(rows.flatMap(([, calls]) => calls).length).toBeGreaterThan(60);
  expect(rows).toHaveLength(11);
});
