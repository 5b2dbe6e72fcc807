export type { FailureRules, ListedModel, ModelListing, Provider, UpstreamOperation } from "./provider.ts";
export { createProvider, type ProviderChoice, upstreamName } from "./registry.ts";
