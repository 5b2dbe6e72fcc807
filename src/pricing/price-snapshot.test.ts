import { expect, test } from "bun:test";
import { type Usage, usageBuckets } from "../core/index.ts";
import { boundFor, chargeFor, type ModelPrice } from "./model-price.ts";
import { PriceBook } from "./price-book.ts";
import { priceFrom, snapshotOf } from "./price-snapshot.ts";

const book = new PriceBook({
  operatorPrices: {
    "own/tokens": {
      input_mtok: 1.25,
      cache_write_mtok: 3.5,
      output_mtok: 10,
      context_window: 1_000,
      max_output_tokens: 9,
    },
    "own/images": { image: { "1024x1024/hd": 0.08, "1024x1024": 0.04, low: 0.01 }, input_image: 0.002 },
    "own/sound": { input_audio_hours: 0.36, input_mchars: 15, requests_kcount: 1 },
  },
  unpriced: "refuse",
  markupOf: () => 1_100_000n,
  clock: () => Date.UTC(2026, 0, 1),
});

function priceOf(model: string, priceProvider?: string): ModelPrice {
  const price = book.lookup({ id: `own/${model}`, model, priceProvider });
  if (price === undefined) throw new Error(`no price of ${model}`);
  return price;
}

const usage: Usage = Object.fromEntries(usageBuckets.map((bucket, index) => [bucket, 1_001 * (index + 1)]));

// The price of gemini-2.5-pro depends on the number of input tokens.
test.each([
  ["tokens", undefined],
  ["images", undefined],
  ["sound", undefined],
  ["gemini-2.5-pro", "google"],
])("%s costs the same by its price's snapshot, also as JSON", (model, priceProvider) => {
  const price = priceOf(model, priceProvider);
  const restored = priceFrom(JSON.parse(JSON.stringify(snapshotOf(price))) as ReturnType<typeof snapshotOf>);
  const images = [
    undefined,
    { size: "1024x1024", quality: "hd" },
    { size: "1024x1024" },
    { quality: "low" },
    { size: "8x8" },
  ];
  for (const image of images) {
    const observed = image === undefined ? { usage } : { usage, image };
    expect(chargeFor(restored, observed)).toBe(chargeFor(price, observed));
    expect(boundFor(restored, usage, image)).toBe(boundFor(price, usage, image));
  }
  const few = { usage: { input: 10, output: 10 } };
  expect(chargeFor(restored, few)).toBe(chargeFor(price, few));
  const { contextWindow, maxOutputTokens, source, markup } = price;
  expect(restored).toMatchObject({ contextWindow, maxOutputTokens, source, markup });
});
