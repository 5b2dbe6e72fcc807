export { finalResponseOf, finalResponseWords } from "./final-response.ts";
export { type ExpandedInput, rebaseErrorPath, ResponseStoreService } from "./response-store-service.ts";
export {
  deleteResponse,
  getResponse,
  listInputItems,
  type StoredResponseCall,
  type StoredResponseDependencies,
} from "./lookups.ts";
export { openResponseStore } from "./sql/open.ts";
export type { ResponseStore, StoredResponse } from "./store.ts";
