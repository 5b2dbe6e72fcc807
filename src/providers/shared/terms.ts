import { type JsonObject, type ObservedUsage, objectOf, type PriceTerms } from "../../core/index.ts";

/** Words for the usual price, also those with which an answer says that a term does not apply. */
const usual: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "global",
  "not_available",
  "",
]);

/** An upstream's further names of service tiers, with the names under which they are priced. */
export type TierNames = Readonly<Record<string, string>>;

/** The requested tier; undefined for the usual one. A value other than text has no price, and is the upstream's to refuse. */
export function askedTier(tier: unknown, names: TierNames = {}): PriceTerms | undefined {
  return typeof tier !== "string" || usual.has(tier) ? undefined : { serviceTier: names[tier] ?? tier };
}

/** The terms for which a price may differ from the usual one. */
export function askedTerms(serviceTier: unknown, inferenceGeo: unknown): PriceTerms | undefined {
  const geo = typeof inferenceGeo !== "string" || usual.has(inferenceGeo) ? undefined : { inferenceGeo };
  const tier = askedTier(serviceTier);
  return tier === undefined && geo === undefined ? undefined : { ...tier, ...geo };
}

/** Adds the service tier that the answer names to its usage: also the usual one, because it replaces the requested one. */
export function withTier(observed: ObservedUsage, tier: unknown, names: TierNames = {}): ObservedUsage {
  if (typeof tier === "string" && tier !== "") observed.terms = { serviceTier: names[tier] ?? tier };
  return observed;
}

/** The `service_tier` of a chat completion, a chunk, a response, or an event that contains one. */
export function tierOf(answer: JsonObject): unknown {
  return answer["service_tier"] ?? objectOf(answer["response"])?.["service_tier"];
}
