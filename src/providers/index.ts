export type { FailureRules, ListedModel, ModelListing, Provider, UpstreamOperation } from "./provider.ts";
export { createProvider, type ProviderChoice, upstreamName } from "./registry.ts";
export { hasSign, readFault } from "./shared/failures.ts";
