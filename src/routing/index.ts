export { type Admission, type CircuitOutcome, Circuits } from "./circuits.ts";
export { fetchListing } from "./fetch-listing.ts";
export { ModelList, type RoutedModel, unlistedModel } from "./model-list.ts";
export {
  callerOfRoute,
  type CommitRule,
  type ModelRoute,
  type RouteLimits,
  type RouteTarget,
  targetsOf,
} from "./model-routes.ts";
export { type Key, keyIdOf, KeyPool } from "./key-pool.ts";
export { keyRedactor } from "./redact-keys.ts";
export { type OfferedTools, offeredTools } from "./offered-tools.ts";
export { requireModels, requirePrices } from "./require-prices.ts";
export { ModelRouter, mayUse, quoted, type Target, type UpstreamRoute } from "./router.ts";
export { callableOperations, operationsOf } from "./model-operations.ts";
