import { expect, test } from "bun:test";
import { intervalName } from "./interval-name.ts";

const dayOf = (date: string): number => Date.parse(date) / 86_400_000;

test.each([
  ["2026-11-27", "day", "2026-11-27"],
  ["2026-11-27", "week", "2026-11-23"],
  ["2026-11-23", "week", "2026-11-23"],
  ["2026-11-22", "week", "2026-11-16"],
  ["2026-01-01", "week", "2025-12-29"],
  ["1969-12-31", "week", "1969-12-29"],
  ["2026-11-27", "month", "2026-11-01"],
  ["2024-02-29", "month", "2024-02-01"],
] as const)("%s is in the %s of %s", (date, interval, name) => {
  expect(intervalName(dayOf(date), interval)).toBe(name);
});
