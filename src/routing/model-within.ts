import { GatewayError, prefixOf } from "../core/index.ts";
import { type ModelRouter, notRouted, quoted } from "./router.ts";

/**
 * The id of a model that a caller names within the group of a provider, with its prefix or without. Throws 404 for an unknown
 * prefix, and 422 for a model of another provider.
 */
export function modelWithin(router: ModelRouter, prefix: string, model: string): string {
  const route = router.withPrefix(prefix);
  if (route === undefined) throw notRouted(`No provider has the prefix ${quoted(prefix)}.`);
  const other = router.withPrefix(prefixOf(model));
  // Names may begin like a prefix: openai/gpt-oss-120b at Groq.
  const isName = route.listing.listed.includes(model) || router.isKnown(route, model);
  if (other === undefined || isName) return `${route.prefix}/${model}`;
  if (other === route) return model;
  const message = `model: ${quoted(model)} is the provider ${other.prefix}'s, and this address is for those of ${route.prefix}.`;
  throw new GatewayError("validation_failed", message, { param: "model" });
}
