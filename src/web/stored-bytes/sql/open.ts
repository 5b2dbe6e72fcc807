import type { Storage } from "../../../storage/index.ts";
import type { StoredBytesStore } from "../store.ts";
import { PostgresStoredBytesStore } from "./postgres.ts";
import { SqliteStoredBytesStore } from "./sqlite.ts";

/** The store of kept bytes for the storage's engine. */
export function openStoredBytesStore(storage: Storage): StoredBytesStore {
  return storage.engine === "sqlite"
    ? new SqliteStoredBytesStore(storage.handle)
    : new PostgresStoredBytesStore(storage.statements);
}
