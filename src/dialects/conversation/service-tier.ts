/** The tiers of answers in OpenAI's terms: its SDKs know no others. */
const known: ReadonlySet<unknown> = new Set(["auto", "default", "flex", "scale", "priority"]);

/** Other upstreams' names of them (`docs/wire/`). */
const others: ReadonlyMap<unknown, string> = new Map([
  ["standard", "default"],
  ["on_demand", "default"],
  ["performance", "priority"],
]);

/** The tier of an upstream's answer in OpenAI's terms; undefined if there is none, or an unknown one. */
export function readTier(tier: unknown): string | undefined {
  return typeof tier === "string" && known.has(tier) ? tier : others.get(tier);
}
