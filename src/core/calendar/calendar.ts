/**
 * The days of one time zone. A day is the number of days between its date and 1970-01-01. It begins at the
 * first moment with its date or a later one, so days follow each other without gaps also if a zone skips midnight,
 * repeats an hour or leaves out a date. Days have 23 to 25 hours if the clocks change.
 */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** No zone is further from UTC; the oldest local mean times included. */
const OFFSET_HOURS_MAX = 16;

/** Cached starts of days. */
const STARTS_MAX = 2_000;

export class Calendar {
  /** The zone's IANA name. */
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #starts = new Map<number, number>();

  /** Throws a `RangeError` if there is no such zone. */
  constructor(zone: string) {
    if (!isTimezone(zone)) throw new RangeError(`there is no time zone "${zone}"`);
    this.zone = zone;
    this.#format = zone === "UTC" ? undefined : dateFormat(zone);
  }

  /** The day of a moment, in milliseconds since the epoch. */
  dayOf(at: number): number {
    if (this.#format === undefined) return Math.floor(at / DAY_MS);
    let day = localDay(this.#format, at);
    // After a clock that went back over midnight, the date repeats; the later day has already begun.
    while (at >= this.startOfDay(day + 1)) day += 1;
    return day;
  }

  /** The first moment of a day. */
  startOfDay(day: number): number {
    if (this.#format === undefined) return day * DAY_MS;
    const known = this.#starts.get(day);
    if (known !== undefined) return known;
    const start = findStart(this.#format, day);
    if (this.#starts.size >= STARTS_MAX) this.#starts.clear();
    this.#starts.set(day, start);
    return start;
  }
}

/** Whether this process knows the zone. Only names: an offset has no rules for the changes of the clocks. */
export function isTimezone(zone: string): boolean {
  // The default: the system's tables of zones take 20 ms to load, a tenth of a command's start.
  if (zone === "UTC") return true;
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone)) return false;
  try {
    return dateFormat(zone).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A day's date as YYYY-MM-DD. */
export function dayName(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

function dateFormat(zone: string): Intl.DateTimeFormat {
  const parts = { year: "numeric", month: "numeric", day: "numeric" } as const;
  return new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", { timeZone: zone, ...parts });
}

/** The number of the date that clocks show at a moment. */
function localDay(format: Intl.DateTimeFormat, at: number): number {
  const numbers = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 0, day = 0] = (["year", "month", "day"] as const).map((part) => numbers.get(part));
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

/** The first moment whose date is the day's or later. */
function findStart(format: Intl.DateTimeFormat, day: number): number {
  let before = day * DAY_MS - OFFSET_HOURS_MAX * HOUR_MS;
  let start = day * DAY_MS + OFFSET_HOURS_MAX * HOUR_MS;
  // Clocks change at most once within these hours, so the dates before the start are earlier ones.
  while (start - before > 1) {
    const middle = Math.floor((before + start) / 2);
    if (localDay(format, middle) >= day) start = middle;
    else before = middle;
  }
  return start;
}
