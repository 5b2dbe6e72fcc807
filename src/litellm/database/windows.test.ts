import { expect, test } from "bun:test";
import { Calendar } from "../../core/index.ts";
import { windowOf } from "./windows.ts";

const utc = new Calendar("UTC");

test.each([
  [undefined, undefined, undefined, undefined, true],
  ["1d", "2026-11-12T00:00:00Z", "daily", undefined, true],
  ["24h", "2026-11-12T05:00:00Z", "daily", undefined, false],
  ["30s", undefined, "daily", undefined, false],
  ["12h", undefined, "daily", undefined, false],
  // A Monday and a Thursday.
  ["7d", "2026-11-09T00:00:00Z", "weekly", undefined, true],
  ["7d", "2026-11-12T00:00:00Z", "weekly", 4, true],
  ["2d", undefined, "weekly", undefined, false],
  ["30d", "2026-12-01T00:00:00Z", "monthly", undefined, false],
  ["1mo", "2026-12-15T00:00:00Z", "monthly", 15, true],
  ["3mo", "2026-11-01T00:00:00Z", "quarterly", 11, true],
  ["3mo", "2026-11-15T00:00:00Z", "quarterly", 12, false],
  ["60d", "2026-12-15T00:00:00Z", "quarterly", undefined, false],
  ["90d", "2026-12-01T00:00:00Z", "quarterly", 12, false],
  ["365d", undefined, undefined, undefined, false],
  ["forever", undefined, undefined, undefined, false],
] as const)("a budget of %s that is reset at %s is %s, from %s", (duration, reset, period, start, isExact) => {
  const resetAt = reset === undefined ? undefined : Date.parse(reset);
  expect(windowOf(duration, { resetAt, calendar: utc })).toEqual({ period, start, isExact });
});
