import { retryLocked, type Storage } from "../../storage/index.ts";
import type { JobStore } from "../store.ts";
import { PostgresJobStore } from "./postgres.ts";
import { SqliteJobStore } from "./sqlite.ts";

/** The jobs' store for whichever engine the storage is. */
export function openJobStore(storage: Storage): JobStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteJobStore(storage.handle))
    : new PostgresJobStore(storage.statements);
}
