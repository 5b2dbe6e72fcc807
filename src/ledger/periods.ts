import type { Calendar } from "../core/index.ts";

export type BudgetPeriod = "daily" | "weekly" | "monthly" | "quarterly";

/** How often a budget restarts: at midnight of the first day of each period; without a period, never. */
export interface Recurrence {
  period: BudgetPeriod | undefined;
  /**
   * The first day of a period: of the week, from Monday, which is 1; of the month, its last day if it has no such; or of a quarter,
   * which begins with this month and each third one. By default 1.
   */
  periodFrom?: number | undefined;
}

const DAY_MS = 86_400_000;

/** The start of the running period; zero for a budget without a period. */
export function periodStart(budget: Recurrence, at: number, calendar: Calendar): number {
  return budget.period === undefined ? 0 : calendar.startOfDay(firstDay(budget, calendar.dayOf(at), 0));
}

/** The end of the running period; undefined for a budget without a period. */
export function periodEnd(budget: Recurrence, at: number, calendar: Calendar): number | undefined {
  return budget.period === undefined ? undefined : calendar.startOfDay(firstDay(budget, calendar.dayOf(at), 1));
}

/** The first day of the period that contains a day, or of the one `later` periods after it. */
function firstDay({ period, periodFrom = 1 }: Recurrence, day: number, later: number): number {
  if (period === "daily") return day + later;
  // 1970-01-01 was a Thursday, the fourth day of a week.
  if (period === "weekly") return day - ((((day + 4 - periodFrom) % 7) + 7) % 7) + 7 * later;
  const date = new Date(day * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (period === "quarterly") return dayOfMonth(year, month - ((month + 13 - periodFrom) % 3) + 3 * later, 1);
  const before = dayOfMonth(year, month, periodFrom) > day ? 1 : 0;
  return dayOfMonth(year, month - before + later, periodFrom);
}

/** A day of a month that is counted from January of the year; the last one if it has no such. */
function dayOfMonth(year: number, month: number, wanted: number): number {
  const next = Date.UTC(year, month + 1) / DAY_MS;
  return Math.min(Date.UTC(year, month) / DAY_MS + wanted - 1, next - 1);
}

/**
 * A budget's period may change while calls run. If that begins a new one, it begins this much later, and the charges
 * until then get its first date: so none that was posted before has a date in it, whichever node's clock gave that.
 */
const CLOCKS_DIFFER_MS_MAX = 10_000;

/** The start of the period that a change at this time begins, and the least start at which none has to begin. */
export function changedPeriod(budget: Recurrence, at: number, calendar: Calendar) {
  return { start: at + CLOCKS_DIFFER_MS_MAX, natural: periodStart(budget, at, calendar) };
}
