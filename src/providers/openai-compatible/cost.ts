import { parseCredits, type JsonObject, objectOf } from "../../core/index.ts";

/** No call costs more; a larger figure is the upstream's mistake. */
const DOLLARS_MAX = 1_000_000;

/** Perplexity names the real price of a call, search fees included, in US dollars (`usage.cost.total_cost`). */
export function perplexityCost(usage: JsonObject): bigint | undefined {
  const dollars = objectOf(usage["cost"])?.["total_cost"];
  if (typeof dollars !== "number" || !(dollars >= 0 && dollars <= DOLLARS_MAX)) return undefined;
  return parseCredits(dollars.toFixed(9));
}
