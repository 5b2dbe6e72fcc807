export { openResponseStore } from "./sql/open.ts";
export type { ResponseContent, ResponseStore, StoredResponse } from "./store.ts";
