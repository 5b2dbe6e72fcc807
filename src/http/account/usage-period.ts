import { z } from "zod";
import { GatewayError } from "../../core/index.ts";

const DAY_MS = 86_400_000;

/** The default length of the period. */
const DAYS = 30;

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/**
 * A time in a query, in milliseconds since the epoch: a date, a date-time (both in UTC unless they have an offset), or
 * Unix seconds. Undefined for everything else, including numbers that are too short or too long for current seconds,
 * such as 20261121 and milliseconds.
 */
export function parseMoment(text: string): number | undefined {
  if (/^(0|\d{9,11})$/.test(text)) return Number(text) * 1_000;
  if (date.safeParse(text).success) return Date.parse(text);
  // An unescaped plus arrives as a space; seconds may be omitted.
  const iso = text.replace(/ (?=\d\d:\d\d$)/, "+").replace(/(T\d\d:\d\d)(?!:)/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`);
}

export interface Period {
  from: number;
  to: number;
}

/**
 * The period of a query: by default thirty days up to the end of today. Throws a 422 `GatewayError` if it ends before
 * it begins.
 */
export function periodOf({ from, to }: { from?: number | undefined; to?: number | undefined }, now: number): Period {
  const end = to ?? startOfDay(now) + DAY_MS;
  const begin = from ?? startOfDay(end - 1) - (DAYS - 1) * DAY_MS;
  if (begin > end) throw new GatewayError("validation_failed", "from: lies after to.", { param: "from" });
  return { from: begin, to: end };
}

function startOfDay(moment: number): number {
  return Math.floor(moment / DAY_MS) * DAY_MS;
}
