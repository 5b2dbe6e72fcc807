import type { Storage } from "../../../storage/index.ts";
import type { TextIndexStore } from "../store.ts";
import { PostgresTextIndexStore } from "./postgres.ts";
import { SqliteTextIndexStore } from "./sqlite.ts";

/** The full-text index for the storage's engine. */
export function openTextIndexStore(storage: Storage): TextIndexStore {
  return storage.engine === "sqlite"
    ? new SqliteTextIndexStore(storage.handle)
    : new PostgresTextIndexStore(storage.statements);
}
