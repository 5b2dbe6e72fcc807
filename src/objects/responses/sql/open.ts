import { retryLocked, type Storage } from "../../../storage/index.ts";
import type { ResponseStore } from "../store.ts";
import { PostgresResponseStore } from "./postgres.ts";
import { SqliteResponseStore } from "./sqlite.ts";

/** The responses' store for the storage's engine. */
export function openResponseStore(storage: Storage): ResponseStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteResponseStore(storage.handle))
    : new PostgresResponseStore(storage.statements);
}
