import { expect, test } from "bun:test";
import { intervalsOf, lengthInDays, nameOf, periodBefore, periodOf, periodText } from "./period.ts";

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

test("a period is written with its last day", () => {
  expect(periodText({ from: "2026-11-01", to: "2026-12-01" })).toBe("1 – 30 Nov 2026");
});
