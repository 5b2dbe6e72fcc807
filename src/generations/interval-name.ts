import { dayName } from "../core/index.ts";
import type { UsageInterval } from "./store.ts";

const WEEK_DAYS = 7;

/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/** The first day of the day, week or month that a day is in, as YYYY-MM-DD. Weeks begin on Monday, as those of ISO 8601. */
export function intervalName(day: number, interval: UsageInterval): string {
  if (interval === "week") return dayName(day - ((((day + FIRST_WEEKDAY) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS));
  const name = dayName(day);
  return interval === "month" ? `${name.slice(0, "YYYY-MM".length)}-01` : name;
}
