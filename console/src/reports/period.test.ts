import { expect, test } from "bun:test";
import { intervalsOf, intervalText, lengthInDays, nameOf, periodBefore, periodOf, periodText } from "./period.ts";

const day = "2026-11-28";

test("the usual period are the thirty days up to today", () => {
  const period = periodOf({}, day);
  expect(period).toEqual({ from: "2026-10-30", to: "2026-11-29" });
  expect(lengthInDays(period)).toBe(30);
  expect(nameOf(period, day)).toBe("30 days");
});

test("an address may name one or both ends, and what is no date is not taken", () => {
  expect(periodOf({ from: "2026-11-01" }, day)).toEqual({ from: "2026-11-01", to: "2026-11-29" });
  expect(periodOf({ from: "2026-11-01", to: "2026-11-03" }, day)).toEqual({ from: "2026-11-01", to: "2026-11-03" });
  expect(periodOf({ from: "<script>" }, day)).toEqual({ from: "2026-10-30", to: "2026-11-29" });
});

test.each([
  [
    { from: "2026-10-30", to: "2026-11-29" },
    { from: "2026-09-30", to: "2026-10-30" },
  ],
  [
    { from: "2026-03-01", to: "2026-04-01" },
    { from: "2026-02-01", to: "2026-03-01" },
  ],
  [
    { from: "2026-01-01", to: "2026-04-01" },
    { from: "2025-10-01", to: "2026-01-01" },
  ],
])("before %p comes %p", (period, before) => {
  expect(periodBefore(period)).toEqual(before);
});

test("a period has the intervals that it touches", () => {
  expect(intervalsOf({ from: "2026-11-26", to: "2026-11-29" }, "day")).toEqual([
    "2026-11-26",
    "2026-11-27",
    "2026-11-28",
  ]);
  expect(intervalsOf({ from: "2026-11-18", to: "2026-11-29" }, "week")).toEqual(["2026-11-16", "2026-11-23"]);
  expect(intervalsOf({ from: "2025-12-24", to: "2026-02-01" }, "month")).toEqual(["2025-12-01", "2026-01-01"]);
});

const inBritain = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });

test("periods and intervals are written as in British English", () => {
  const whole = inBritain({ day: "numeric", month: "short", year: "numeric" });
  const [ofDay, ofMonth] = [
    inBritain({ day: "numeric", month: "short" }),
    inBritain({ month: "short", year: "numeric" }),
  ];
  for (let month = 0; month < 14; month += 1) {
    const from = new Date(Date.UTC(2025, month, 3));
    const text = from.toISOString().slice(0, 10);
    expect([intervalText(text, "day"), intervalText(text, "month")]).toEqual([
      ofDay.format(from),
      ofMonth.format(from),
    ]);
    for (const days of [0, 5, 40, 400]) {
      const last = new Date(from.getTime() + days * 86_400_000);
      const to = new Date(last.getTime() + 86_400_000).toISOString().slice(0, 10);
      expect(periodText({ from: text, to })).toBe(whole.formatRange(from, last).replaceAll("\u2009", " "));
    }
  }
});
