import { describe, expect, test } from "bun:test";
import { pricesAt } from "./prices-at.ts";
import type { TimedPrices } from "./schema.ts";

const inputAt = (prices: TimedPrices[], moment: string): unknown =>
  pricesAt({ prices, source: "a test" }, Date.parse(moment))?.input_mtok;

describe("of several tables, the last one that applies counts", () => {
  const prices: TimedPrices[] = [
    { input_mtok: 1 },
    { from: "2026-06-01", input_mtok: 2 },
    { from: "2026-06-01", daily: ["22:00", "02:30"], input_mtok: 3 },
    { days: ["sat", "sun"], input_mtok: 4 },
  ];

  test.each([
    ["2026-05-29T23:59:59.999Z", 1],
    ["2026-06-01T12:00:00Z", 2],
    ["2026-06-01T22:00:00Z", 3],
    ["2026-06-02T02:29:59Z", 3],
    ["2026-06-02T02:30:00Z", 2],
    ["2026-06-06T23:00:00Z", 4],
    ["2026-05-31T23:00:00Z", 4],
  ])("at %s", (moment, expected) => {
    expect(inputAt(prices, moment)).toBe(expected);
  });
});

test("prices that begin later do not apply yet", () => {
  const later: TimedPrices[] = [{ from: "2030-01-01", input_mtok: 1 }];
  expect(inputAt(later, "2029-12-31T23:59:59Z")).toBeUndefined();
  expect(inputAt(later, "2030-01-01T00:00:00Z")).toBe(1);
});

test("a single table always applies", () => {
  expect(pricesAt({ prices: { input_mtok: 5 }, source: "a test" }, 0)).toEqual({ input_mtok: 5 });
});
