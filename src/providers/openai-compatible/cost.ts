import { parseCredits, type JsonObject, objectOf } from "../../core/index.ts";

/** Perplexity names the real price of a call, search fees included, in US dollars (`usage.cost.total_cost`). */
export function perplexityCost(usage: JsonObject): bigint | undefined {
  const dollars = objectOf(usage["cost"])?.["total_cost"];
  if (typeof dollars !== "number" || !Number.isFinite(dollars) || dollars < 0) return undefined;
  return parseCredits(dollars.toFixed(9));
}
