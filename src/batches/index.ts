export { BatchDirectory } from "./batch-directory.ts";
export { Batches, type MessageRequest } from "./batches.ts";
export { BATCH_JOB, type BatchEndpoint } from "./dependencies.ts";
export { LineTurns } from "./line-turns.ts";
export { openBatchStore } from "./sql/batch-store.ts";
export type { BatchProvider } from "./native/upstream-batches.ts";
export { openKeptFileStore } from "./sql/file-store.ts";
export { openSliceStore } from "./sql/slice-store.ts";
export type { KeptFile, StoredBatch as ListedBatch } from "./store.ts";
