export { BoundedBytes } from "./bounded-bytes.ts";
export type { BytesKind, StoredBytes, StoredBytesStore } from "./store.ts";
