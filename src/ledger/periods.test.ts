import { expect, test } from "bun:test";
import fc from "fast-check";
import { Calendar } from "../core/index.ts";
import { type BudgetPeriod, periodEnd, periodStart } from "./periods.ts";

type Row = [period: BudgetPeriod, from: number | undefined, at: string, start: string, end: string];

const periods: Row[] = [
  ["daily", undefined, "2026-03-04T00:00:00.000Z", "2026-03-04", "2026-03-05"],
  ["daily", undefined, "2026-03-04T23:59:59.999Z", "2026-03-04", "2026-03-05"],
  ["daily", undefined, "2026-12-31T12:00:00.000Z", "2026-12-31", "2027-01-01"],
  ["daily", undefined, "2028-02-28T12:00:00.000Z", "2028-02-28", "2028-02-29"],
  ["monthly", undefined, "2026-03-01T00:00:00.000Z", "2026-03-01", "2026-04-01"],
  ["monthly", undefined, "2026-01-31T23:59:59.999Z", "2026-01-01", "2026-02-01"],
  ["monthly", undefined, "2028-02-29T12:00:00.000Z", "2028-02-01", "2028-03-01"],
  ["monthly", undefined, "2026-12-31T12:00:00.000Z", "2026-12-01", "2027-01-01"],
  // The last day of a month that has no such.
  ["monthly", 15, "2026-01-14T23:59:59.999Z", "2025-12-15", "2026-01-15"],
  ["monthly", 31, "2026-02-27T12:00:00.000Z", "2026-01-31", "2026-02-28"],
  ["monthly", 31, "2026-02-28T00:00:00.000Z", "2026-02-28", "2026-03-31"],
  ["monthly", 30, "2028-02-29T12:00:00.000Z", "2028-02-29", "2028-03-30"],
  // A Wednesday, in weeks from Monday, Wednesday, Thursday and Sunday.
  ["weekly", undefined, "2026-03-04T12:00:00.000Z", "2026-03-02", "2026-03-09"],
  ["weekly", 3, "2026-03-04T00:00:00.000Z", "2026-03-04", "2026-03-11"],
  ["weekly", 4, "2026-03-04T23:59:59.999Z", "2026-02-26", "2026-03-05"],
  ["weekly", 7, "2026-03-04T12:00:00.000Z", "2026-03-01", "2026-03-08"],
  ["quarterly", undefined, "2026-03-31T23:59:59.999Z", "2026-01-01", "2026-04-01"],
  ["quarterly", 2, "2026-01-15T12:00:00.000Z", "2025-11-01", "2026-02-01"],
  ["quarterly", 2, "2026-02-01T00:00:00.000Z", "2026-02-01", "2026-05-01"],
  ["quarterly", 12, "2026-11-30T12:00:00.000Z", "2026-09-01", "2026-12-01"],
];

const utc = new Calendar("UTC");

test.each(periods)("a %s budget from %s at %s runs from %s to %s", (period, periodFrom, at, start, end) => {
  const budget = { period, periodFrom };
  expect(periodStart(budget, Date.parse(at), utc)).toBe(Date.parse(start));
  expect(periodEnd(budget, Date.parse(at), utc)).toBe(Date.parse(end));
});

test("a budget without a period began with time and never ends", () => {
  expect(periodStart({ period: undefined }, 1_700_000_000_000, utc)).toBe(0);
  expect(periodEnd({ period: undefined }, 1_700_000_000_000, utc)).toBeUndefined();
});

test("a month begins with its first day in the zone of the deployment", () => {
  const berlin = new Calendar("Europe/Berlin");
  const monthly = { period: "monthly" } as const;
  const moment = Date.parse("2026-10-31T22:59:59.999Z");
  const iso = (at: number | undefined): string => new Date(at ?? 0).toISOString();
  expect(iso(periodStart(monthly, moment, berlin))).toBe("2026-09-30T22:00:00.000Z");
  expect(iso(periodEnd(monthly, moment, berlin))).toBe("2026-10-31T23:00:00.000Z");
  expect(iso(periodEnd(monthly, moment + 1, berlin))).toBe("2026-11-30T23:00:00.000Z");
});

test("every time lies in exactly one period, and the next begins at its end", () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
  const budget = fc.oneof(
    fc.record({ period: fc.constant<BudgetPeriod>("daily") }),
    fc.record({ period: fc.constant<BudgetPeriod>("weekly"), periodFrom: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ period: fc.constant<BudgetPeriod>("monthly"), periodFrom: fc.integer({ min: 1, max: 31 }) }),
    fc.record({ period: fc.constant<BudgetPeriod>("quarterly"), periodFrom: fc.integer({ min: 1, max: 12 }) }),
  );
  const property = fc.property(budget, moment, (recurrence, at) => {
    const start = periodStart(recurrence, at, utc);
    const end = periodEnd(recurrence, at, utc) ?? 0;
    expect(start).toBeLessThanOrEqual(at);
    expect(end).toBeGreaterThan(at);
    expect(periodStart(recurrence, end, utc)).toBe(end);
    expect(periodStart(recurrence, end - 1, utc)).toBe(start);
  });
  fc.assert(property);
});
