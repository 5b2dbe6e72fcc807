/** Budgets of LiteLLM with their durations become budgets with periods. */
import type { BudgetPeriod } from "../../ledger/index.ts";
import type { Calendar } from "../../core/index.ts";

const HOUR_S = 3_600;
const DAY_S = 86_400;

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: HOUR_S, d: DAY_S, w: 7 * DAY_S, mo: 30 * DAY_S };

/** A duration such as `30d` in seconds; undefined for another text. */
function secondsOf(duration: string): number | undefined {
  const [, count = "", unit = ""] = /^(\d+)(mo|[smhdw])$/.exec(duration.trim()) ?? [];
  const factor = seconds[unit];
  return factor === undefined || Number(count) === 0 ? undefined : Number(count) * factor;
}

export interface BudgetWindow {
  /** Undefined for a budget that never restarts. */
  period: BudgetPeriod | undefined;
  start: number | undefined;
  isExact: boolean;
}

interface Bounded {
  period: BudgetPeriod;
  /** The longest duration that becomes it, in days. */
  daysMax: number;
  exact: readonly string[];
}

const periods: readonly Bounded[] = [
  { period: "daily", daysMax: 1, exact: ["1d", "24h"] },
  { period: "weekly", daysMax: 7, exact: ["7d", "1w"] },
  { period: "monthly", daysMax: 31, exact: ["1mo"] },
  { period: "quarterly", daysMax: 92, exact: ["3mo"] },
];

/**
 * The period of a duration: the next longer one, so that it restarts no more often than before. Without one it never restarts, as one of
 * over 92 days. Periods begin with the day of the reset; quarters begin with a month, so the running one ends after a reset within one.
 */
export function windowOf(
  duration: string | undefined,
  { resetAt, calendar }: { resetAt: number | undefined; calendar: Calendar },
): BudgetWindow {
  if (duration === undefined) return { period: undefined, start: undefined, isExact: true };
  const length = secondsOf(duration);
  const bounded = length === undefined ? undefined : periods.find(({ daysMax }) => length <= daysMax * DAY_S);
  if (bounded === undefined) return { period: undefined, start: undefined, isExact: false };
  const { period, exact } = bounded;
  const day = resetAt === undefined ? undefined : calendar.dayOf(resetAt);
  const isMidnight = resetAt === undefined || (day !== undefined && calendar.startOfDay(day) === resetAt);
  const { start, isDay } = startOf(period, day);
  return { period, start, isExact: exact.includes(duration.trim()) && isMidnight && isDay };
}

/** The day of the week or of the month, or the month; undefined for the first one. `isDay`: whether it is the very day. */
function startOf(period: BudgetPeriod, day: number | undefined): { start: number | undefined; isDay: boolean } {
  if (day === undefined || period === "daily") return { start: undefined, isDay: true };
  // 1970-01-01 was a Thursday, the fourth day of a week.
  if (period === "weekly") return { start: startUnlessFirst((((day + 3) % 7) + 7) % 7), isDay: true };
  const date = new Date(day * DAY_S * 1_000);
  if (period === "monthly") return { start: startUnlessFirst(date.getUTCDate() - 1), isDay: true };
  const isDay = date.getUTCDate() === 1;
  return { start: startUnlessFirst((date.getUTCMonth() + (isDay ? 0 : 1)) % 12), isDay };
}

const startUnlessFirst = (index: number): number | undefined => (index === 0 ? undefined : index + 1);
