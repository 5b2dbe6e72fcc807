import { parseCredits, type JsonObject, objectOf } from "../../core/index.ts";

/** The maximum cost of a call; a larger figure is a mistake of the upstream. */
const DOLLARS_MAX = 1_000_000;

/**
 * Perplexity reports the real price of a call in US dollars, search fees included (`usage.cost.total_cost`). 0 is not a
 * price.
 */
export function perplexityCost(usage: JsonObject): bigint | undefined {
  return aboveZero(nanoOf(objectOf(usage["cost"])?.["total_cost"]));
}

/**
 * OpenRouter reports it as `usage.cost`. With a key of one's own at a provider (`is_byok`), that is only OpenRouter's fee, and
 * the provider bills `upstream_inference_cost`. 0 is not a price.
 */
export function openrouterCost(usage: JsonObject): bigint | undefined {
  const fee = nanoOf(usage["cost"]);
  if (fee === undefined) return undefined;
  const billed = usage["is_byok"] === true ? objectOf(usage["cost_details"])?.["upstream_inference_cost"] : undefined;
  return aboveZero(fee + (nanoOf(billed) ?? 0n));
}

function aboveZero(cost: bigint | undefined): bigint | undefined {
  return cost === 0n ? undefined : cost;
}

function nanoOf(dollars: unknown): bigint | undefined {
  if (typeof dollars !== "number" || !(dollars >= 0 && dollars <= DOLLARS_MAX)) return undefined;
  return parseCredits(dollars.toFixed(9));
}
