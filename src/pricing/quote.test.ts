import { expect, test } from "bun:test";
import { NO_MARKUP } from "../core/index.ts";
import type { ModelPrice } from "./model-price.ts";
import { type PriceTable, readPriceTable, pricedModalities } from "./price-table.ts";
import { priceQuote } from "./quote.ts";

function priceOf(table: PriceTable, markup = NO_MARKUP): ModelPrice {
  const unknown = { contextWindow: undefined, maxOutputTokens: undefined };
  return {
    ...readPriceTable(table),
    modalities: pricedModalities(table),
    ...unknown,
    source: "test",
    markup,
  };
}

const quoteOf = (table: PriceTable, markup = NO_MARKUP): object => priceQuote(priceOf(table, markup));

const tiered: PriceTable = {
  input_mtok: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
  cache_read_mtok: 0.125,
  output_mtok: 10,
};

test("a quote is in credits per million tokens, at the base tier", () => {
  expect(quoteOf(tiered)).toEqual({ input_mtok: 1.25, output_mtok: 10, cache_read_mtok: 0.125 });
});

test("a quote includes the markup", () => {
  expect(quoteOf(tiered, 1_200_000n)).toEqual({ input_mtok: 1.5, output_mtok: 12, cache_read_mtok: 0.15 });
});

test("a cached token without a separate price is quoted as input", () => {
  expect(quoteOf({ input_mtok: 3, output_mtok: 15 })).toEqual({ input_mtok: 3, output_mtok: 15, cache_read_mtok: 3 });
});

const noTokens = { input_mtok: 0, output_mtok: 0, cache_read_mtok: 0 };

test.each<[string, PriceTable, object]>([
  ["images", { image: 0.04 }, { ...noTokens, image: 0.05 }],
  [
    "images by size and quality, and input images",
    { image: { "1024x1024/hd": 0.08, "1024x1024": 0.04 }, input_image: 0.002 },
    { ...noTokens, image: { "1024x1024/hd": 0.1, "1024x1024": 0.05 }, input_image: 0.0025 },
  ],
  ["characters", { input_mchars: 15 }, { ...noTokens, input_mchars: 18.75 }],
  ["hours of audio", { input_audio_hours: 0.111 }, { ...noTokens, input_audio_hours: 0.13875 }],
  ["calls", { requests_kcount: 5 }, { ...noTokens, requests_kcount: 6.25 }],
  [
    "tokens of images and audio that have a separate price",
    {
      input_mtok: 4,
      input_image_mtok: 8,
      input_audio_mtok: 4,
      output_mtok: 8,
      output_image_mtok: 32,
      output_audio_mtok: 0,
    },
    {
      input_mtok: 5,
      output_mtok: 10,
      cache_read_mtok: 5,
      input_image_mtok: 10,
      output_image_mtok: 40,
      output_audio_mtok: 0,
    },
  ],
  [
    "cache writes and reasoning",
    { input_mtok: 4, cache_write_mtok: 5, cache_write_1h_mtok: 8, output_mtok: 8, output_reasoning_mtok: 12 },
    {
      input_mtok: 5,
      output_mtok: 10,
      cache_read_mtok: 5,
      cache_write_mtok: 6.25,
      cache_write_1h_mtok: 10,
      output_reasoning_mtok: 15,
    },
  ],
  [
    "no tokens that cost as much as their nearest fallback",
    { input_mtok: 4, cache_write_mtok: 5, cache_write_1h_mtok: 5, output_mtok: 8, output_reasoning_mtok: 8 },
    { input_mtok: 5, output_mtok: 10, cache_read_mtok: 5, cache_write_mtok: 6.25 },
  ],
  [
    "tokens that cost as much as input but not as much as their nearest fallback",
    { input_mtok: 4, cache_write_mtok: 5, cache_write_1h_mtok: 4, cache_read_mtok: 1, cache_image_read_mtok: 4 },
    {
      input_mtok: 5,
      output_mtok: 0,
      cache_read_mtok: 1.25,
      cache_write_mtok: 6.25,
      cache_write_1h_mtok: 5,
      cache_image_read_mtok: 5,
    },
  ],
])("a quote contains every separate price: %s", (_title, table, expected) => {
  expect(quoteOf(table, 1_250_000n)).toEqual(expected);
});
