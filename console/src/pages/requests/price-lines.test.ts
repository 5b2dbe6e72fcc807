import { expect, test } from "bun:test";
import type { Generation } from "../../api/types.ts";
import { plainText } from "../../money/decimal.ts";
import { billOf } from "./price-lines.ts";

const call = (usage: Record<string, number>, credits: number) => ({ usage, credits }) as unknown as Generation;

test("each bucket has its price, and the lines make the charge", () => {
  const usage = { input: 1_021, cache_read: 2_000, output: 77, reasoning: 3, requests: 1, images: 0 };
  const prices = { input_mtok: 1.75, output_mtok: 14, cache_read_mtok: 0.175 };
  const bill = billOf(call(usage, 0.00325675), prices);
  expect(bill.lines.map(({ name, count, credits }) => [name, count, credits && plainText(credits)])).toEqual([
    ["Input tokens", 1_021, "0.00178675"],
    ["Input tokens from a cache", 2_000, "0.00035"],
    ["Output tokens", 77, "0.001078"],
    ["Reasoning tokens", 3, "0.000042"],
  ]);
  expect([plainText(bill.sum), bill.isCharge]).toEqual(["0.00325675", true]);
});

test("a charge by other prices is not claimed to be the sum", () => {
  expect(billOf(call({ input: 1 }, 0.5), { input_mtok: 1 }).isCharge).toBe(false);
});

test("prices by variant have no line's amount, and models without prices neither", () => {
  const [line] = billOf(call({ images: 2 }, 0.08), { image: { hd: 0.04 } }).lines;
  expect(line).toEqual({ name: "Images", count: 2, price: undefined, perText: "one", credits: undefined });
  const unpriced = billOf(call({ input: 2 }, 0.5), null);
  expect([unpriced.lines.length, unpriced.isCharge]).toEqual([1, undefined]);
});
