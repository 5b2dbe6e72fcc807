export type { FileQuota, FileStore, UploadPlace } from "./file-store.ts";
export { openFileStore, openObjectOwnerStore } from "./sql/open.ts";
export type { ObjectOwnerStore } from "./store.ts";
export { StoredObjects } from "./stored-objects.ts";
