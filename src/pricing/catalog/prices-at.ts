import { type CatalogModel, type CatalogPrices, type TimedPrices, weekdays } from "./schema.ts";

/**
 * The prices of a model at a moment (milliseconds since the epoch); of several tables, the last one that applies.
 * Undefined if none does: the model's first prices begin later.
 */
export function pricesAt({ prices }: CatalogModel, at: number): CatalogPrices | undefined {
  if (!Array.isArray(prices)) return prices;
  const moment = new Date(at).toISOString();
  const weekday = weekdays[new Date(at).getUTCDay()];
  return prices.findLast(({ from, daily, days }) => {
    const isSince = from === undefined || moment.slice(0, 10) >= from;
    const isToday = days === undefined || (weekday !== undefined && days.includes(weekday));
    return isSince && isToday && isWithin(daily, moment.slice(11, 16));
  });
}

/** Whether a time of day is within hours that may span midnight. */
function isWithin(hours: TimedPrices["daily"], time: string): boolean {
  if (hours === undefined) return true;
  const [begin, end] = hours;
  return begin < end ? time >= begin && time < end : time >= begin || time < end;
}
