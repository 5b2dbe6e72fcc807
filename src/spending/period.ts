import { z } from "zod";
import { type Calendar, GatewayError } from "../core/index.ts";

const DAY_MS = 86_400_000;

/** The default length of the period. */
const DAYS = 30;

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/** A time in a query: the beginning of a day, or milliseconds since the epoch. */
export type Moment = { day: number } | { at: number };

/**
 * A time in a query: a date, a date-time (in UTC unless it has an offset), or Unix seconds. Undefined for everything
 * else, including numbers that are too short or too long for current seconds, such as 20261121 and milliseconds.
 */
export function parseMoment(text: string): Moment | undefined {
  if (/^(0|\d{9,11})$/.test(text)) return { at: Number(text) * 1_000 };
  if (date.safeParse(text).success) return { day: Date.parse(text) / DAY_MS };
  // An unescaped plus arrives as a space; seconds may be omitted.
  const iso = text.replace(/ (?=\d\d:\d\d$)/, "+").replace(/(T\d\d:\d\d)(?!:)/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return { at: Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`) };
}

export interface Period {
  from: number;
  to: number;
}

interface Bounds {
  from?: Moment | undefined;
  to?: Moment | undefined;
}

/**
 * The period of a query: by default thirty days up to the end of today. Throws a 422 `GatewayError` if it ends before
 * it begins.
 */
export function periodOf({ from, to }: Bounds, now: number, calendar: Calendar): Period {
  const momentOf = (moment: Moment): number => ("at" in moment ? moment.at : calendar.startOfDay(moment.day));
  const end = momentOf(to ?? { day: calendar.dayOf(now) + 1 });
  const begin = momentOf(from ?? { day: calendar.dayOf(end - 1) - (DAYS - 1) });
  if (begin > end) throw new GatewayError("validation_failed", "from: lies after to.", { param: "from" });
  return { from: begin, to: end };
}
