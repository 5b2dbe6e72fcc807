/** Periods of the ledger on paper: found by going back day by day. */
import type { Account } from "../../../src/ledger/index.ts";

/** The first day of the period that contains a moment. */
export function periodName({ period, periodFrom = 1 }: Account, at: number): string {
  if (period === undefined) return "";
  const date = new Date(at);
  while (!beginsPeriod(period, periodFrom, date)) date.setUTCDate(date.getUTCDate() - 1);
  return date.toISOString().slice(0, 10);
}

/** Whether a day is the first of a period. */
function beginsPeriod(period: NonNullable<Account["period"]>, from: number, date: Date): boolean {
  const [day, month] = [date.getUTCDate(), date.getUTCMonth() + 1];
  const last = new Date(Date.UTC(date.getUTCFullYear(), month, 0)).getUTCDate();
  switch (period) {
    case "daily":
      return true;
    case "weekly":
      return date.getUTCDay() === from % 7;
    case "monthly":
      return day === Math.min(from, last);
    case "quarterly":
      return day === 1 && (month - from) % 3 === 0;
  }
}

/** The first moment of a period, by its name; 0 for a budget without a period. */
export function startOf(period: string): number {
  return period === "" ? 0 : Date.parse(period);
}
