export { PageCache } from "./cache/index.ts";
export { Screenshots } from "./screenshots/index.ts";
export { openStoredBytesStore, type StoredBytesStore } from "./stored-bytes/index.ts";
