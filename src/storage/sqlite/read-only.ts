/** Connections of other threads, which can't write. */
import { Database } from "bun:sqlite";
import type { SqliteStorage } from "../database.ts";

/** How long a statement waits while another connection recovers the write-ahead log. */
const BUSY_MS = 5_000;

/** Statements that one connection keeps compiled. */
const STATEMENTS_MAX = 1_000;

export function openToRead(path: string): Database {
  Database.MAX_QUERY_CACHE_SIZE = STATEMENTS_MAX;
  const database = new Database(path, { readonly: true, safeIntegers: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return database;
}

/** The file of a storage that another thread of this process has opened. */
export type OpenFile = Pick<SqliteStorage, "place" | "timezone"> & { file: string };

/** The storage on a read-only connection of the calling thread. Writes to it fail, and it announces no commits of other processes. */
export function readOnlyStorage({ file, place, timezone }: OpenFile): SqliteStorage {
  const handle = openToRead(file);
  return {
    engine: "sqlite",
    timezone,
    handle,
    file,
    place,
    reader: undefined,
    requireUsable: () => undefined,
    onClose: () => undefined,
    onForeignCommit: () => () => undefined,
    check: () => Promise.reject(new Error("this connection only reads")),
    close: () => handle.close(),
  };
}
