/** Embeddings, images, speech and transcription: the charge of each kind of price, calculated by hand. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MediaVariant, ObservedUsage } from "../core/index.ts";
import { boundFor, chargeFor, type ModelPrice } from "./model-price.ts";
import { PriceBook } from "./price-book.ts";
import type { PriceTable, PricedModality } from "./price-table.ts";

function listed(priceProvider: string, model: string): ModelPrice {
  const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => Date.UTC(2026, 10, 20) });
  const price = book.lookup({ id: `${priceProvider}/${model}`, model, priceProvider });
  if (price === undefined) throw new Error(`${model} has no price`);
  return price;
}

function priced(table: PriceTable): ModelPrice {
  const book = new PriceBook({ operatorPrices: { "up/m": table }, unpriced: "refuse", clock: () => 0 });
  const price = book.lookup({ id: "up/m", model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return price;
}

const square = { size: "1024x1024" };

const charges: [provider: string, model: string, modality: PricedModality, observed: ObservedUsage, nano: bigint][] = [
  // 0.02 credits per million: 20 nano-credits per token.
  ["openai", "text-embedding-3-small", "embeddings", { usage: { input: 7 } }, 140n],
  ["openai", "text-embedding-3-large", "embeddings", { usage: { input: 1_001 } }, 130_130n],
  ["google", "gemini-embedding-001", "embeddings", { usage: { input: 9 } }, 1_350n],
  ["mistral", "mistral-embed", "embeddings", { usage: { input: 12 } }, 1_200n],
  ["mistral", "codestral-embed-2505", "embeddings", { usage: { input: 12 } }, 1_800n],
  // 50 text tokens at 5, 194 image tokens at 10, 30 of them cached at 2.5, 1,056 output tokens at 40 credits per
  // million.
  [
    "openai",
    "gpt-image-1",
    "images",
    { usage: { input: 50, inputImage: 164, cacheImageRead: 30, outputImage: 1_056 } },
    250_000n + 1_640_000n + 75_000n + 42_240_000n,
  ],
  // Text output besides the image is cheaper than the image.
  ["openai", "gpt-image-1.5", "images", { usage: { output: 100, outputImage: 100 } }, 1_000_000n + 3_200_000n],
  ["openai", "gpt-image-2.6-sunburst", "images", { usage: { input: 10, outputImage: 100 } }, 50_000n + 3_000_000n],
  ["google", "gemini-2.5-flash-image", "images", { usage: { input: 8, outputImage: 1_290 } }, 2_400n + 38_700_000n],
  ["google", "gemini-nano-banana-2.1", "images", { usage: { input: 8, outputImage: 1_120 } }, 12_000n + 33_600_000n],
  ["openai", "dall-e-3", "images", { usage: { images: 1 }, variant: { ...square, quality: "hd" } }, 80_000_000n],
  ["openai", "dall-e-3", "images", { usage: { images: 1 }, variant: { ...square, quality: "standard" } }, 40_000_000n],
  ["openai", "dall-e-2", "images", { usage: { images: 3 }, variant: { size: "256x256" } }, 48_000_000n],
  ["openai", "dall-e-2", "images", { usage: { images: 3 }, variant: { ...square, quality: "standard" } }, 60_000_000n],
  ["x-ai", "grok-imagine-image", "images", { usage: { images: 2 } }, 40_000_000n],
  // The upstream's reported cost takes precedence over the list price.
  ["x-ai", "grok-imagine-image-quality", "images", { usage: { images: 1 }, reportedCost: 70_000_000n }, 70_000_000n],
  ["byteplus", "seedream-4-0-250828", "images", { usage: { images: 4, outputImage: 0 } }, 120_000_000n],
  ["byteplus", "seedream-5-0-260128", "images", { usage: { images: 1 }, variant: { size: "2K" } }, 35_000_000n],
  // 15 and 30 credits per million characters.
  ["openai", "tts-1", "speech", { usage: { inputCharacters: 4_095 } }, 61_425_000n],
  ["openai", "tts-1-hd", "speech", { usage: { inputCharacters: 1 } }, 30_000n],
  // 600 nano-credits per text token, 12,000 per audio token of output.
  ["openai", "gpt-4o-mini-tts", "speech", { usage: { input: 20, outputAudio: 150 } }, 12_000n + 1_800_000n],
  ["openai", "gpt-4o-mini-tts-2025-12-15", "speech", { usage: { input: 20, outputAudio: 150 } }, 12_000n + 1_800_000n],
  // Characters are priced; the tokens that its stream counts are free.
  [
    "mistral",
    "voxtral-mini-tts-2603",
    "speech",
    { usage: { inputCharacters: 250, input: 60, outputAudio: 190 } },
    4_000_000n,
  ],
  ["x-ai", "grok-tts", "speech", { usage: { inputCharacters: 200 } }, 3_000_000n],
  // 0.36 credits per hour are 100 nano-credits per millisecond.
  ["openai", "whisper-1", "transcription", { usage: { inputAudioMs: 9_000 } }, 900_000n],
  // 0.111 per hour are 30.83… per millisecond, but a whole hour costs exactly the price of an hour.
  ["groq", "whisper-large-v3", "transcription", { usage: { inputAudioMs: 3_600_000 } }, 111_000_000n],
  ["groq", "whisper-large-v3", "transcription", { usage: { inputAudioMs: 1 } }, 31n],
  ["x-ai", "grok-stt", "transcription", { usage: { inputAudioMs: 10_800_000 } }, 300_000_000n],
  ["mistral", "voxtral-mini-latest", "transcription", { usage: { inputAudioMs: 1_500 } }, 75_000n],
  // 14 tokens of the prompt at 2.5, 300 of audio at 2.5, 45 of output at 10 credits per million.
  [
    "openai",
    "gpt-4o-transcribe",
    "transcription",
    { usage: { input: 14, inputAudio: 300, output: 45 } },
    35_000n + 750_000n + 450_000n,
  ],
];

test.each(charges)("the charge of %s's %s, for %s", (provider, model, modality, observed, nano) => {
  const price = listed(provider, model);
  expect(price.modalities.has(modality)).toBe(true);
  expect(chargeFor(price, observed)).toBe(nano);
  // The markup applies to the sum.
  expect(chargeFor({ ...price, markup: 1_250_000n }, observed)).toBe((nano * 5n + 3n) / 4n);
});

describe("a price per image", () => {
  const table = { image: { "1024x1024/hd": 0.08, "1024x1024": 0.04, low: 0.01, "2K": 0.12 } };
  const variants: [string, MediaVariant | undefined, bigint][] = [
    ["by size and quality", { size: "1024x1024", quality: "hd" }, 80_000_000n],
    ["by size if no price is for both", { size: "1024x1024", quality: "low" }, 40_000_000n],
    ["by quality if no price is for the size", { size: "512x512", quality: "low" }, 10_000_000n],
    ["by quality alone", { quality: "low" }, 10_000_000n],
    ["by size alone", { size: "2K" }, 120_000_000n],
    ["of an unlisted variant: the most expensive", { size: "512x512", quality: "auto" }, 120_000_000n],
    ["of unknown size and quality: the most expensive", {}, 120_000_000n],
    ["of an unknown variant: the most expensive", undefined, 120_000_000n],
  ];

  test.each(variants)("%s", (_title, variant, nano) => {
    const observed = variant === undefined ? { usage: { images: 2 } } : { usage: { images: 2 }, variant };
    expect(chargeFor(priced(table), observed)).toBe(nano * 2n);
    expect(boundFor(priced(table), { images: 2 }, variant)).toBe(nano * 2n);
    expect(boundFor(priced(table), { images: 2 })).toBe(240_000_000n);
  });

  test("is added to those of input images, tokens and the call", () => {
    const sum = priced({ ...table, input_image: 0.003, input_mtok: 1, output_mtok: 0, requests_kcount: 5 });
    const usage = { images: 1, inputImages: 2, input: 10, requests: 1 };
    const nano = 40_000_000n + 6_000_000n + 10_000n + 5_000_000n;
    expect(chargeFor(sum, { usage, variant: { size: "1024x1024" } })).toBe(nano);
  });

  test("may be zero for one variant", () => {
    const price = priced({ image: { low: 0, high: 0.5 } });
    expect(chargeFor(price, { usage: { images: 3 }, variant: { quality: "low" } })).toBe(0n);
    expect(boundFor(price, { images: 3 })).toBe(1_500_000_000n);
  });
});

test("the cost of time is rounded once, together with the other costs of the call", () => {
  // 10 ms are 3.08… nano-credits and a token 0.3: together 3.38…, which costs 4, and not 4 + 1.
  const price = priced({ input_audio_hours: 0.00111, input_mtok: 0.0003, output_mtok: 0 });
  expect(chargeFor(price, { usage: { inputAudioMs: 10, input: 1 } })).toBe(4n);
});

test("any time costs its share of the hour, rounded up to the next nano-credit", () => {
  const hours = fc.integer({ min: 0, max: 10_000_000 });
  const property = fc.property(hours, fc.nat(100_000_000), (millionths, ms) => {
    const price = priced({ input_audio_hours: millionths / 1e6 });
    const exact = BigInt(millionths) * 1_000n * BigInt(ms);
    expect(chargeFor(price, { usage: { inputAudioMs: ms } })).toBe((exact + 3_599_999n) / 3_600_000n);
  });
  fc.assert(property, { numRuns: 300 });
});
