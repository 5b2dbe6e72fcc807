import { parseCredits, type JsonObject, objectOf } from "../../core/index.ts";

/** The maximum cost of a call; a larger figure is a mistake of the upstream. */
const DOLLARS_MAX = 1_000_000;

/** Perplexity reports the real price of a call in US dollars, search fees included (`usage.cost.total_cost`). */
export function perplexityCost(usage: JsonObject): bigint | undefined {
  const dollars = objectOf(usage["cost"])?.["total_cost"];
  if (typeof dollars !== "number" || !(dollars >= 0 && dollars <= DOLLARS_MAX)) return undefined;
  return parseCredits(dollars.toFixed(9));
}
