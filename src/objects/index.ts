export type { BackgroundInput } from "./background/background-call.ts";
export { BackgroundResponses } from "./background/background-responses.ts";
export { BACKGROUND_JOB } from "./background/dependencies.ts";
export { openBackgroundStore } from "./background/sql/open.ts";
export { Conversations } from "./conversations/conversations.ts";
export { openConversationStore } from "./conversations/sql/open.ts";
export type { StoredConversation } from "./conversations/store.ts";
export { itemPage, readItemPage } from "./item-pages.ts";
export type { FileQuota, FileStore, UploadPlace } from "./owners/file-store.ts";
export { openFileStore, openObjectOwnerStore } from "./owners/sql/open.ts";
export type { ObjectOwnerStore } from "./owners/store.ts";
export { type ObjectLookup, StoredObjects } from "./owners/stored-objects.ts";
export { finalResponseOf, finalResponseWords } from "./responses/final-response.ts";
export { type ExpandedInput, rebaseErrorPath, ResponseStoreService } from "./responses/response-store-service.ts";
export {
  cancelResponse,
  deleteResponse,
  getResponse,
  listInputItems,
  type StoredResponseCall,
  type StoredResponseDependencies,
} from "./responses/lookups.ts";
export { openResponseStore } from "./responses/sql/open.ts";
export { type KeyRenaming, renameKey } from "./sql/rename-keys.ts";
export { neededProviders } from "./sql/needed-providers.ts";
export type { ResponseStore, StoredResponse } from "./responses/store.ts";
export { KeptThoughts } from "./thoughts/kept-thoughts.ts";
export { openThoughtStore } from "./thoughts/sql/open.ts";
