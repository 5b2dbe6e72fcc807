import { type Clock, isStorableId, type RandomBytes, requestId } from "../core/index.ts";
import type { BatchKind } from "./store.ts";

const prefixes: Record<BatchKind, string> = { calls: "batch_", messages: "msgbatch_" };

/** Ids of kept files, which differ from those of all providers. */
const FILE_PREFIX = "file-batch-";

const withoutPrefix = (id: string): string => id.slice(id.indexOf("_") + 1);

/** The id of a new batch. Like a request's, it begins with its time: it is the parent of its lines' calls. */
export function newBatchId(kind: BatchKind, clock: Clock, random: RandomBytes): string {
  return prefixes[kind] + withoutPrefix(requestId(clock, random));
}

export function newFileId(clock: Clock, random: RandomBytes): string {
  return FILE_PREFIX + withoutPrefix(requestId(clock, random));
}

/** Whether a file is kept here, if there is one with this id. */
export function isKeptFileId(id: string): boolean {
  return id.startsWith(FILE_PREFIX) && isStorableId(id);
}
