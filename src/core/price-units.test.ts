import { describe, expect, test } from "bun:test";
import { byPriceKey, byPricedBucket, describePrice, priceKeys, priceUnits } from "./price-units.ts";
import { usageBuckets } from "./usage.ts";

test("every bucket of usage is priced by one key, and every key prices one bucket", () => {
  const priced = priceKeys.map((key) => priceUnits[key].bucket);
  expect(priced.toSorted()).toEqual([...usageBuckets].toSorted());
});

describe.each(priceKeys.map((key, index) => [key, index] as const))("the row of %s", (key, index) => {
  const { per, ratePer = 1, fallbacks = [], variants = false, alwaysQuoted = false } = priceUnits[key];

  test("falls back to rows above it that are priced for the same number of units", () => {
    // A quote visits the rows once: it must know whether it contains a fallback before it visits the keys that fall
    // back.
    const above = new Set(priceKeys.slice(0, index));
    expect(fallbacks.filter((fallback) => !above.has(fallback))).toEqual([]);
    for (const fallback of fallbacks)
      expect([priceUnits[fallback].per, priceUnits[fallback].ratePer ?? 1]).toEqual([per, ratePer]);
  });

  test("has a price that is a whole number of rates", () => {
    expect(Number.isInteger(per / ratePer)).toBe(true);
  });

  test("is either always quoted or has variants", () => {
    // Callers may expect a number under a key that every quote contains.
    expect(variants && alwaysQuoted).toBe(false);
    // A quote compares only single prices with their fallbacks, not variants.
    expect(variants && fallbacks.length > 0).toBe(false);
  });
});

test("all rates for more than one unit are for the same number of units", () => {
  // A charge adds their costs up before it divides them, so that it rounds once.
  const numbers = priceKeys.map((key) => priceUnits[key].ratePer ?? 1).filter((units) => units > 1);
  expect(new Set(numbers).size).toBe(1);
});

test("objects by key or by bucket have all members", () => {
  const kinds = byPriceKey({ always: () => "always", plain: () => "plain", variants: () => "variants" });
  expect(Object.keys(kinds)).toEqual([...priceKeys]);
  expect(kinds).toMatchObject({ input_mtok: "always", cache_write_mtok: "plain", image: "variants" });
  expect(Object.keys(byPricedBucket((key) => key)).toSorted()).toEqual([...usageBuckets].toSorted());
  expect(byPricedBucket((key) => key)).toMatchObject({ cacheWrite1h: "cache_write_1h_mtok", images: "image" });
});

test("a description names the unit, the choice of variants and the fallbacks", () => {
  expect(describePrice("input_mtok")).toBe("Credits for a million input tokens.");
  expect(describePrice("cache_write_1h_mtok")).toEndWith("If absent, cache_write_mtok applies, else input_mtok.");
  expect(describePrice("image")).toContain("one price, or prices by variant, such as size/quality");
});
