import type { Calendar } from "../core/index.ts";

/**
 * A part of a report's time: whole days, which are read from their sums, or a part of one day, which is summed from the
 * rows of its calls.
 */
export type UsagePart =
  | { unit: "days"; from: number; to: number }
  | { unit: "calls"; from: number; to: number; day: number };

/** The parts of the time from `from`, inclusive, to `to`, exclusive: at most two of them are parts of days. */
export function partsOf(from: number, to: number, calendar: Calendar): UsagePart[] {
  if (from >= to) return [];
  const firstDay = calendar.dayOf(from);
  const wholeFrom = calendar.startOfDay(firstDay) === from ? firstDay : firstDay + 1;
  const wholeTo = calendar.dayOf(to);
  const parts: UsagePart[] = [];
  const firstEnd = Math.min(to, calendar.startOfDay(wholeFrom));
  if (from < firstEnd) parts.push({ unit: "calls", from, to: firstEnd, day: firstDay });
  if (wholeFrom < wholeTo) parts.push({ unit: "days", from: wholeFrom, to: wholeTo });
  const lastStart = Math.max(firstEnd, calendar.startOfDay(wholeTo));
  if (lastStart < to) parts.push({ unit: "calls", from: lastStart, to, day: wholeTo });
  return parts;
}

/** Whole days, or whole months by their first days, which are read from sums. */
export interface UsageSpan {
  unit: "days" | "months";
  from: number;
  to: number;
}

/** The spans of whole days: all whole months of them are one, so that a year is not read day by day. */
export function spansOf(from: number, to: number): UsageSpan[] {
  const firstMonth = monthStart(from) === from ? from : nextMonth(from);
  const lastMonth = monthStart(to);
  if (firstMonth >= lastMonth) return [{ unit: "days", from, to }];
  const spans: UsageSpan[] = [
    { unit: "days", from, to: firstMonth },
    { unit: "months", from: firstMonth, to: lastMonth },
    { unit: "days", from: lastMonth, to },
  ];
  return spans.filter((span) => span.from < span.to);
}

/**
 * The day between two parts of a span of about the same length, which is the first of a month if the span is of months; undefined if it has one day
 * or month.
 */
export function middleOf({ unit, from, to }: UsageSpan): number | undefined {
  const middle = Math.ceil((from + to) / 2);
  const start = unit === "days" || monthStart(middle) === middle ? middle : nextMonth(middle);
  if (start < to) return start;
  return unit === "months" && monthStart(middle) > from ? monthStart(middle) : undefined;
}

const DAY_MS = 86_400_000;

/** The longest month. */
const MONTH_DAYS = 31;

function monthStart(day: number): number {
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
}

const nextMonth = (day: number): number => monthStart(monthStart(day) + MONTH_DAYS);
