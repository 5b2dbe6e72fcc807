export { BoundedBytes } from "./bounded-bytes.ts";
export type { StoredBytes, StoredBytesStore } from "./store.ts";
