export type { FileKey, FileQuota, FileStore, UploadedFile, UploadPlace } from "./file-store.ts";
export { openFileStore, openObjectOwnerStore } from "./sql/open.ts";
export type { ObjectOwner, ObjectOwnerStore } from "./store.ts";
export { StoredObjects } from "./stored-objects.ts";
