export { BoundedBytes } from "./bounded-bytes.ts";
export { openStoredBytesStore } from "./sql/open.ts";
export type { StoredBytes, StoredBytesStore } from "./store.ts";
