export { openObjectOwnerStore } from "./sql/open.ts";
export type { ObjectOwnerStore } from "./store.ts";
export { StoredObjects } from "./stored-objects.ts";
