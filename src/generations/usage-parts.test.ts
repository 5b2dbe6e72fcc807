import { expect, test } from "bun:test";
import { Calendar } from "../core/index.ts";
import { middleOf, partsOf, spansOf } from "./usage-parts.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const utc = new Calendar("UTC");

test.each<[title: string, from: number, to: number, parts: unknown[]]>([
  ["nothing", 5, 5, []],
  ["whole days", 0, 3 * DAY, [{ unit: "days", from: 0, to: 3 }]],
  ["a part of a day", 1, 2, [{ unit: "calls", from: 1, to: 2, day: 0 }]],
  ["the beginning of a day", 0, DAY - 1, [{ unit: "calls", from: 0, to: DAY - 1, day: 0 }]],
  ["the end of a day", DAY - 1, DAY, [{ unit: "calls", from: DAY - 1, to: DAY, day: 0 }]],
  [
    "parts of two days",
    DAY - 1,
    DAY + 1,
    [
      { unit: "calls", from: DAY - 1, to: DAY, day: 0 },
      { unit: "calls", from: DAY, to: DAY + 1, day: 1 },
    ],
  ],
  [
    "days between parts",
    DAY - 1,
    3 * DAY + 1,
    [
      { unit: "calls", from: DAY - 1, to: DAY, day: 0 },
      { unit: "days", from: 1, to: 3 },
      { unit: "calls", from: 3 * DAY, to: 3 * DAY + 1, day: 3 },
    ],
  ],
])("%s", (_, from, to, parts) => {
  expect(partsOf(from, to, utc)).toEqual(parts as never);
});

test("the days are those of the zone, also the long one", () => {
  const berlin = new Calendar("Europe/Berlin");
  const from = Date.parse("2026-10-24T22:00:00Z");
  const day = berlin.dayOf(from);
  expect(partsOf(from, from + 25 * HOUR, berlin)).toEqual([{ unit: "days", from: day, to: day + 1 }]);
  expect(partsOf(from, from + 24 * HOUR, berlin)).toEqual([{ unit: "calls", from, to: from + 24 * HOUR, day }]);
});

const dayOf = (date: string): number => Date.parse(date) / DAY;

test.each<[from: string, to: string, spans: [unit: "days" | "months", from: string, to: string][]]>([
  ["2026-03-04", "2026-03-05", [["days", "2026-03-04", "2026-03-05"]]],
  ["2026-02-28", "2026-03-31", [["days", "2026-02-28", "2026-03-31"]]],
  ["2026-02-01", "2026-03-01", [["months", "2026-02-01", "2026-03-01"]]],
  ["2026-03-01", "2026-03-31", [["days", "2026-03-01", "2026-03-31"]]],
  [
    "2025-12-31",
    "2026-03-02",
    [
      ["days", "2025-12-31", "2026-01-01"],
      ["months", "2026-01-01", "2026-03-01"],
      ["days", "2026-03-01", "2026-03-02"],
    ],
  ],
  ["2024-02-29", "2024-03-01", [["days", "2024-02-29", "2024-03-01"]]],
  ["1969-11-01", "1970-02-01", [["months", "1969-11-01", "1970-02-01"]]],
])("from %s to %s", (from, to, spans) => {
  expect(spansOf(dayOf(from), dayOf(to))).toEqual(
    spans.map(([unit, begin, end]) => ({ unit, from: dayOf(begin), to: dayOf(end) })),
  );
});

test("the middle of a span is between days, or months", () => {
  const day = (text: string): number => Date.parse(text) / DAY;
  const months = (from: string, to: string) => middleOf({ unit: "months", from: day(from), to: day(to) });
  expect(middleOf({ unit: "days", from: 3, to: 4 })).toBeUndefined();
  expect(middleOf({ unit: "days", from: 3, to: 6 })).toBe(5);
  expect(months("2026-02-01", "2026-03-01")).toBeUndefined();
  expect(months("2026-01-01", "2026-03-01")).toBe(day("2026-02-01"));
  expect(months("2026-02-01", "2026-04-01")).toBe(day("2026-03-01"));
  expect(months("2026-01-01", "2027-01-01")).toBe(day("2026-08-01"));
});
