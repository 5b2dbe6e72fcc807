/** Compares the quotes of `GET /v1/models` with charges: both derive from one table of price keys. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type PriceKey, priceKeys, priceUnits, type Usage, usageBuckets } from "../../core/index.ts";
import { chargeFor, type ModelPrice, type OperatorPrice, PriceBook, priceQuote } from "../../pricing/index.ts";
import { modelsAnswer } from "./models.ts";

const variants = ["1024x1024/hd", "1024x1024", "hd", "low"] as const;

function priceOf(entry: OperatorPrice): ModelPrice {
  const book = new PriceBook({ operatorPrices: { "up/m": entry }, unpriced: "free", clock: () => 0 });
  const price = book.lookup({ id: "up/m", model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return price;
}

/** The price of a model in the answer, as the client gets it and as parsed by the contract. */
function quoted(price: ModelPrice): { sent: unknown; contract: OperatorPrice } {
  const model = { id: "up/m", object: "model", created: 0, owned_by: "up", context_length: null, operations: [] };
  const sent: unknown = JSON.parse(JSON.stringify(priceQuote(price)));
  const [parsed] = modelsAnswer.parse({ object: "list", data: [{ ...model, pricing: sent }] }).data;
  if (parsed?.pricing == null) throw new Error("no price in the answer");
  return { sent, contract: parsed.pricing };
}

const millionths = fc.nat(50_000_000).map((count) => count / 1e6);
const rate = fc.oneof(fc.constantFrom(0, 0.1, 3, 15), millionths);
const byVariant = fc.dictionary(fc.constantFrom(...variants), rate, { minKeys: 1 });
const valueOf = (key: PriceKey) => (priceUnits[key].variants === true ? fc.oneof(rate, byVariant) : rate);
const entries: fc.Arbitrary<OperatorPrice> = fc.record(
  Object.fromEntries(priceKeys.map((key) => [key, valueOf(key)])),
  { requiredKeys: [] },
);
const usages: fc.Arbitrary<Usage> = fc.record(
  Object.fromEntries(usageBuckets.map((bucket) => [bucket, fc.nat(100_000)])),
  { requiredKeys: [] },
);
const image = fc.record({ size: fc.constantFrom("1024x1024", "2K"), quality: fc.constantFrom("hd", "low", "auto") });

describe("a quote", () => {
  test("is complete: read as a price table, it charges the same for any usage", () => {
    const property = fc.property(entries, usages, image, (entry, usage, variant) => {
      const price = priceOf(entry);
      const { sent, contract } = quoted(price);
      // Keys unknown to the contract are missing in the parsed answer.
      expect(sent).toEqual(contract);
      const observed = { usage, variant };
      expect(chargeFor(priceOf(contract), observed)).toBe(chargeFor(price, observed));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test.each(priceKeys.map((key) => [key] as const))("has %s if a model has such a price", (key) => {
    const all = Object.fromEntries(priceKeys.map((other, index) => [other, index + 1]));
    const { sent, contract } = quoted(priceOf({ ...all, [key]: 0.25 }));
    expect(sent).toEqual({ ...all, [key]: 0.25 });
    expect(sent).toEqual(contract);
  });
});
