import { expect, test } from "bun:test";
import { perplexityCost } from "./cost.ts";

const totals: [unknown, bigint | undefined][] = [
  [0.013068, 13_068_000n],
  [1, 1_000_000_000n],
  [1e-9, 1n],
  [5e-324, undefined],
  [0, undefined],
  [1_000_000, 10n ** 15n],
  [1_000_001, undefined],
  [1e21, undefined],
  [1e300, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [Number.NaN, undefined],
  [-0.01, undefined],
  ["0.01", undefined],
  [null, undefined],
];

test.each(totals)("a total of %p dollars is %p nano-credits", (total, cost) => {
  expect(perplexityCost({ cost: { total_cost: total } })).toBe(cost);
});

test.each([[{}], [{ cost: null }], [{ cost: 0.01 }], [{ cost: [] }]])("a usage %p has no cost", (usage) => {
  expect(perplexityCost(usage)).toBeUndefined();
});
