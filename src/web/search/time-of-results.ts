/** `tbs`, in which Google and Firecrawl write of what time results are. */

export interface TimeOfResults {
  /** Milliseconds: from this moment on, and before that one. */
  since?: number;
  until?: number;
  isNewestFirst: boolean;
  /** Parts that mean nothing here. */
  ignored: readonly string[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Milliseconds of `qdr:h` and the others. */
const PERIODS: Readonly<Record<string, number>> = {
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  m: 31 * DAY_MS,
  y: 366 * DAY_MS,
};

/** `qdr:w`, `qdr:h3`, `cdr:1,cd_min:1/31/2026,cd_max:2/28/2026` and `sbd:1`, joined by commas; `now` in milliseconds. */
export function timeOfResults(tbs: string, now: number): TimeOfResults {
  const time: { since?: number; until?: number; isNewestFirst: boolean; ignored: string[] } = {
    isNewestFirst: false,
    ignored: [],
  };
  for (const part of tbs.split(",").map((each) => each.trim())) {
    const [, letter = "", count = "1"] = /^qdr:([hdwmy])(\d{1,3})?$/.exec(part) ?? [];
    const [, bound, month, day, year] = /^cd_(min|max):(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(part) ?? [];
    if (letter !== "") time.since = now - (PERIODS[letter] ?? 0) * Number(count);
    else if (bound === "min") time.since = Date.UTC(Number(year), Number(month) - 1, Number(day));
    else if (bound === "max") time.until = Date.UTC(Number(year), Number(month) - 1, Number(day) + 1);
    else if (part === "sbd:1") time.isNewestFirst = true;
    else if (!["", "cdr:1", "sbd:0"].includes(part)) time.ignored.push(`tbs: ${part}`);
  }
  return time;
}
