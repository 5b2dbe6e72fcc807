import { describe, expect, test } from "bun:test";
import { PriceBook } from "./price-book.ts";
import { priceFactorsOf } from "./price-factors.ts";

const factorOf = priceFactorsOf({
  openai: { baseUrl: "https://api.openai.com/v1", priceFactor: undefined },
  eu: { baseUrl: "https://eu.api.openai.com/v1", priceFactor: undefined },
  own: { baseUrl: "https://eu.api.openai.com/v1", priceFactor: 1 },
  zone: { baseUrl: "https://zone.example/v1", priceFactor: 1.25 },
});

describe("the factor of a provider", () => {
  test.each<[string, number]>([
    ["openai/gpt-6-astra", 1],
    ["eu/gpt-6-astra", 1.1],
    ["eu/gpt-5.4-mini", 1.1],
    // Released before 5 March 2026.
    ["eu/gpt-4o", 1],
    ["eu/gpt-5-mini", 1],
    ["eu/gpt-5.2", 1],
    ["own/gpt-6-astra", 1],
    ["zone/anything", 1.25],
    ["missing/gpt-6-astra", 1],
    ["gpt-6-astra", 1],
  ])("of %s is %d", (id, factor) => {
    expect(factorOf(id, id.slice(id.indexOf("/") + 1))).toBe(factor);
  });

  test("multiplies every price, and no factor or start of a tier", () => {
    const operatorPrices = {
      "zone/m": {
        input_mtok: { base: 2, tiers: [{ start: 1_000, price: 4 }] },
        output_mtok: 10,
        web_searches_kcount: 10,
        image: { low: 0.01, high: 0.04 },
        service_tiers: { priority: 2, flex: { input_mtok: 1 } },
        inference_geos: { us: 1.1 },
        context_window: 100,
      },
    };
    const book = new PriceBook({ operatorPrices, unpriced: "refuse", factorOf, clock: () => 0 });
    const model = { id: "zone/m", model: "m", priceProvider: undefined };
    expect(book.describe(model)?.prices).toMatchObject({
      input_mtok: { base: 2.5, tiers: [{ start: 1_000, price: 5 }] },
      output_mtok: 12.5,
      web_searches_kcount: 12.5,
      image: { low: 0.0125, high: 0.05 },
      service_tiers: { priority: 2, flex: { input_mtok: 1.25 } },
      inference_geos: { us: 1.1 },
    });
    const price = book.lookup(model);
    expect([price?.rates.output.base, price?.contextWindow]).toEqual([12_500_000_000n, 100]);
    expect(price?.serviceTiers.get("priority")?.output.base).toBe(25_000_000_000n);
    expect(price?.serviceTiers.get("flex")?.input.base).toBe(1_250_000_000n);
  });
});
