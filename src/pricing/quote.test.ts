import { expect, test } from "bun:test";
import { readPriceTable } from "./model-price.ts";
import { priceQuote } from "./quote.ts";

const price = {
  rates: readPriceTable({
    input_mtok: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
    cache_read_mtok: 0.125,
    output_mtok: 10,
  }),
  contextWindow: undefined,
  maxOutputTokens: undefined,
  source: "test",
};

test("a quote is in credits per million tokens, at the base tier", () => {
  expect(priceQuote(1_000_000n)(price)).toEqual({ input_mtok: 1.25, output_mtok: 10, cache_read_mtok: 0.125 });
});

test("a quote includes the markup", () => {
  expect(priceQuote(1_200_000n)(price)).toEqual({ input_mtok: 1.5, output_mtok: 12, cache_read_mtok: 0.15 });
});

test("a cached token without a price of its own is quoted as input", () => {
  const plain = { ...price, rates: readPriceTable({ input_mtok: 3, output_mtok: 15 }) };
  expect(priceQuote(1_000_000n)(plain)).toEqual({ input_mtok: 3, output_mtok: 15, cache_read_mtok: 3 });
});
