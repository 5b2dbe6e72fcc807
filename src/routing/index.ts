export {
  type CallTarget,
  callTargets,
  type CallTargets,
  mayHaveTargets,
  modelsIn,
  namesFallbacks,
} from "./call-targets.ts";
export { circuitIdOf, type CircuitOutcome, Circuits, modelOfCircuit } from "./health/circuits.ts";
export { BusyTargets } from "./busy-targets.ts";
export { SessionCaches } from "./session-caches.ts";
export type { TargetCondition } from "./target-condition.ts";
export { explainRoute } from "./explain-route.ts";
export { explanationJson, circuitEnds } from "./explanation.ts";
export { fetchListing } from "./fetch-listing.ts";
export { ModelList, type RoutedModel, unlistedModel } from "./model-list.ts";
export type { CommitRule, ModelRoute, RouteLimits } from "./model-routes.ts";
export { type Key, keyIdOf, KeyPool, type RefusedKey } from "./key-pool.ts";
export { type OverrideChanges, Overrides } from "./health/overrides.ts";
export { SharedTargets } from "./shared/shared-targets.ts";
export {
  readSharedKeyId,
  sharedKeyId,
  type TargetOverride,
  type TargetState,
  type TargetStore,
} from "./shared/store.ts";
export { disableTarget, enableTarget, repairKey } from "./health/switches.ts";
export { providerState } from "./health/provider-states.ts";
export { type ListPrice, listPrices, type PricePage } from "./list-prices.ts";
export { openTargetStore } from "./sql/open.ts";
export { keyRedactor } from "./redact-keys.ts";
export { type OfferedTools, offeredTools } from "./offered-tools.ts";
export { coversEverything, isToolPriced, requireModels, requirePrices } from "./require-prices.ts";
export { modelWithin } from "./model-within.ts";
export { heldTarget, ModelRouter, mayUse, quoted, type Target, type UpstreamRoute, usableTargets } from "./router.ts";
export { callableOperations, modelOperations, operationsOf } from "./model-operations.ts";
