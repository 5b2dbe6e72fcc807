export { BatchDirectory } from "./batch-directory.ts";
export { Batches, type MessageRequest } from "./batches.ts";
export { BATCH_JOB, type BatchEndpoint } from "./dependencies.ts";
export { LineTurns } from "./line-turns.ts";
export { openBatchStore } from "./sql/batch-store.ts";
export { openKeptFileStore } from "./sql/file-store.ts";
export type { KeptFile } from "./store.ts";
