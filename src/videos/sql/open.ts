import { retryLocked, type Storage } from "../../storage/index.ts";
import type { VideoStore } from "../store.ts";
import { PostgresVideoStore } from "./postgres.ts";
import { SqliteVideoStore } from "./sqlite.ts";

/** The video jobs' store for the storage's engine. */
export function openVideoStore(storage: Storage): VideoStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteVideoStore(storage.handle))
    : new PostgresVideoStore(storage.statements);
}
