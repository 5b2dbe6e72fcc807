import { expect, test } from "bun:test";
import { decimalOf } from "../../money/decimal.ts";
import { runwayOf } from "./runway.ts";

test("an amount lasts as long as its pace lets it", () => {
  const now = Date.parse("2026-11-28T00:00:00Z");
  const { days, date } = runwayOf(decimalOf(50), decimalOf(70), 7, now);
  expect([days, date?.toISOString()]).toEqual([5, "2026-12-03T00:00:00.000Z"]);
  expect(runwayOf(decimalOf(-1), decimalOf(7), 7).days).toBe(0);
});

test("an amount of which nothing is spent has no end", () => {
  expect(runwayOf(decimalOf(50), decimalOf(0), 7)).toEqual({ days: undefined, date: undefined });
});
