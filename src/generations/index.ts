export { intervalName } from "./interval-name.ts";
export { openGenerationStore } from "./sql/open.ts";
export type { Generation } from "./generation.ts";
export type {
  AllSpendingQuery,
  GenerationStore,
  SpendingGroup,
  SpendingOutcome,
  SpendingQuery,
  TagDimension,
  UsageDetail,
  UsageDimension,
  UsageGroup,
  UsageGrouping,
  UsageOutcome,
  UsageQuery,
  UsageSums,
} from "./store.ts";
export { usageDetails } from "./store.ts";
export type { CallFilter, CallFollower, CallPage, CallPageQuery, CallQuery } from "./call-query.ts";
