export { openGenerationStore } from "./sql/open.ts";
export type {
  Generation,
  GenerationStore,
  UsageGroup,
  UsageGrouping,
  UsageQuery,
  UsageReport,
  UsageSums,
} from "./store.ts";
