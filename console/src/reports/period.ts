/** Periods of reports, as dates of the API: `from` is their first day, `to` the day behind their last. */

export interface Period {
  from: string;
  to: string;
}

export type Interval = "day" | "week" | "month";

const DAY_MS = 86_400_000;

const dateOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

const millisecondsOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);

export function daysLater(date: string, days: number): string {
  return dateOf(millisecondsOf(date) + days * DAY_MS);
}

function monthsLater(date: string, months: number): string {
  const [year = 0, month = 1] = date.split("-").map(Number);
  return dateOf(Date.UTC(year, month - 1 + months, 1));
}

const firstOfMonth = (date: string): string => `${date.slice(0, 7)}-01`;

/** Today in the browser's time zone. */
export function today(now = new Date()): string {
  return dateOf(now.getTime() - now.getTimezoneOffset() * 60_000);
}

/** The periods that are offered by name, given today. */
export const namedPeriods = {
  "7 days": (day: string): Period => ({ from: daysLater(day, -6), to: daysLater(day, 1) }),
  "30 days": (day: string): Period => ({ from: daysLater(day, -29), to: daysLater(day, 1) }),
  "90 days": (day: string): Period => ({ from: daysLater(day, -89), to: daysLater(day, 1) }),
  "This month": (day: string): Period => ({ from: firstOfMonth(day), to: monthsLater(day, 1) }),
  "Last month": (day: string): Period => ({ from: monthsLater(day, -1), to: firstOfMonth(day) }),
  "12 months": (day: string): Period => ({ from: monthsLater(day, -11), to: monthsLater(day, 1) }),
} as const;

export type PeriodName = keyof typeof namedPeriods;

export const usualPeriod: PeriodName = "30 days";

const isDate = (text: string | undefined): text is string => text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);

/** The period that an address names, or the usual one. */
export function periodOf({ from, to }: { from?: string; to?: string }, day = today()): Period {
  if (!isDate(from) && !isDate(to)) return namedPeriods[usualPeriod](day);
  const end = isDate(to) ? to : daysLater(day, 1);
  return { from: isDate(from) ? from : daysLater(end, -30), to: end };
}

/** The name of a period, if it has one today. */
export function nameOf(period: Period, day = today()): PeriodName | undefined {
  return (Object.keys(namedPeriods) as PeriodName[]).find((name) => {
    const named = namedPeriods[name](day);
    return named.from === period.from && named.to === period.to;
  });
}

export function lengthInDays({ from, to }: Period): number {
  return Math.round((millisecondsOf(to) - millisecondsOf(from)) / DAY_MS);
}

/** The period before: as many days, or as many months if it consists of months. */
export function periodBefore({ from, to }: Period): Period {
  if (from.endsWith("-01") && to.endsWith("-01")) {
    const [firstYear = 0, firstMonth = 0] = from.split("-").map(Number);
    const [lastYear = 0, lastMonth = 0] = to.split("-").map(Number);
    return { from: monthsLater(from, (firstYear - lastYear) * 12 + firstMonth - lastMonth), to: from };
  }
  return { from: daysLater(from, -lengthInDays({ from, to })), to: from };
}

/** The first days of the intervals that a period touches. Weeks begin on Monday. */
export function intervalsOf({ from, to }: Period, interval: Interval): string[] {
  const starts: string[] = [];
  let at = startOf(from, interval);
  while (at < to && starts.length < MAX_INTERVALS) {
    starts.push(at);
    at = interval === "month" ? monthsLater(at, 1) : daysLater(at, interval === "week" ? 7 : 1);
  }
  return starts;
}

/** More are not drawn. */
const MAX_INTERVALS = 2_000;

function startOf(date: string, interval: Interval): string {
  if (interval === "month") return firstOfMonth(date);
  if (interval === "day") return date;
  const weekday = new Date(millisecondsOf(date)).getUTCDay();
  return daysLater(date, -((weekday + 6) % 7));
}

/** As British English has them. The browser's own formats take it ten milliseconds each before they format the first date. */
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"];

interface DateParts {
  day: string;
  month: string;
  year: string;
}

function partsOf(date: string): DateParts {
  const [year = "", month = "", day = ""] = date.split("-");
  return { day: String(Number(day)), month: months[Number(month) - 1] ?? "", year };
}

/** How an interval is named beside an axis. */
export function intervalText(start: string, interval: Interval): string {
  const { day, month, year } = partsOf(start);
  return interval === "month" ? `${month} ${year}` : `${day} ${month}`;
}

/** `30 Oct – 28 Nov 2026` */
export function periodText({ from, to }: Period): string {
  const [first, last] = [partsOf(from), partsOf(daysLater(to, -1))];
  const end = `${last.day} ${last.month} ${last.year}`;
  if (first.year !== last.year) return `${first.day} ${first.month} ${first.year} – ${end}`;
  if (first.month !== last.month) return `${first.day} ${first.month} – ${end}`;
  return first.day === last.day ? end : `${first.day} – ${end}`;
}
