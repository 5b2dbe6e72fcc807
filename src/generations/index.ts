export { intervalName } from "./interval-name.ts";
export { openGenerationStore } from "./sql/open.ts";
export type {
  Generation,
  GenerationStore,
  SpendingGroup,
  SpendingOutcome,
  SpendingQuery,
  UsageGroup,
  UsageGrouping,
  UsageOutcome,
  UsageQuery,
  UsageSums,
} from "./store.ts";
