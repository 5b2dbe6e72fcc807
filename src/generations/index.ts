export { openGenerationStore } from "./sql/open.ts";
export type { Generation, GenerationStore, UsageGroup, UsageGrouping, UsageQuery, UsageSums } from "./store.ts";
