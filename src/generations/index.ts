export { openGenerationStore } from "./sql/open.ts";
export type {
  Generation,
  GenerationStore,
  UsageGroup,
  UsageGrouping,
  UsageOutcome,
  UsageQuery,
  UsageSums,
} from "./store.ts";
