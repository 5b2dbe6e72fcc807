import { z } from "zod";
import { GatewayError } from "../../core/index.ts";

const DAY_MS = 86_400_000;

/** How far back usage is told where nothing else was asked for. */
const DAYS = 30;

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/**
 * A moment as it may be written in a query, in milliseconds since the epoch: a date, a date-time (both UTC where they
 * name no offset), or unix seconds. Undefined for everything else, a number too short or too long for our time included:
 * 20261121 and milliseconds are no seconds.
 */
export function parseMoment(text: string): number | undefined {
  if (/^(0|\d{9,11})$/.test(text)) return Number(text) * 1_000;
  if (date.safeParse(text).success) return Date.parse(text);
  // A plus that was not escaped arrives as a space; seconds may be left out.
  const iso = text.replace(/ (?=\d\d:\d\d$)/, "+").replace(/(T\d\d:\d\d)(?!:)/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`);
}

export interface Period {
  from: number;
  to: number;
}

/**
 * The period that a query names: by default up to the end of this day, and thirty days long. Throws a 422
 * `GatewayError` where it ends before it begins.
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
