import { type Decimal, numberOf } from "../../money/decimal.ts";

/** Further away is not written as a date. */
const DAYS_MAX = 730;

const DAY_MS = 86_400_000;

export interface Runway {
  /** Undefined if nothing is spent, or only in years. */
  days: number | undefined;
  date: Date | undefined;
}

/** When an amount is used up, if as much is spent a day as in the days before. */
export function runwayOf(available: Decimal, spent: Decimal, days: number, now = Date.now()): Runway {
  const pace = numberOf(spent) / days;
  const left = pace > 0 ? Math.max(0, numberOf(available)) / pace : Number.POSITIVE_INFINITY;
  if (left > DAYS_MAX) return { days: undefined, date: undefined };
  return { days: left, date: new Date(now + left * DAY_MS) };
}
