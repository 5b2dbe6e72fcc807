import { expect, test } from "bun:test";
import { reportedCost, reportedMediaCost } from "./cost.ts";

const ticks: [unknown, bigint | undefined][] = [
  // A dollar is 10,000,000,000 ticks and 1,000,000,000 nano-credits.
  [10_000_000_000, 1_000_000_000n],
  [10, 1n],
  [11, 2n],
  [1, 1n],
  // Not a price, if there are tokens beside it.
  [0, undefined],
  [Number.MAX_SAFE_INTEGER, 900_719_925_474_100n],
  [-10, undefined],
  [0.5, undefined],
  [1e300, undefined],
  [2 ** 60, undefined],
  [Number.NaN, undefined],
  ["10", undefined],
  [null, undefined],
  [undefined, undefined],
];

test.each(ticks)("%p ticks are %p nano-credits, rounded up", (value, cost) => {
  expect(reportedCost({ cost_in_usd_ticks: value })).toBe(cost);
  expect(reportedMediaCost({ cost_in_usd_ticks: value })).toBe(value === 0 ? 0n : cost);
});
