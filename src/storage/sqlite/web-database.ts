import type { Database } from "bun:sqlite";
import type { WebDatabase } from "../database.ts";
import { openFile } from "./open-file.ts";
import { webMigrations } from "./web-migrations.ts";

/** Bytes of a page of a new file: documents and the index have long rows. */
const PAGE_BYTES = 4_096;

/** The length of the write-ahead log at which a commit makes a checkpoint: its thread may wait for the disk. */
const WAL_BYTES_MAX = 8 * 2 ** 20;

/** The file of the web's tables beside that of the storage. */
export function webFileOf(file: string): string {
  return `${file}-web`;
}

/** How long a statement waits for another process's transaction. Only its thread waits. */
const BUSY_MS = 5_000;

/** Opens the database of the web's tables; a missing one is created. Throws a `StorageError` if it cannot be used. */
export function openWebDatabase({ path, synchronous }: WebDatabase): Database {
  const file = { pageBytes: PAGE_BYTES, walBytesMax: WAL_BYTES_MAX, busyMs: BUSY_MS, migrations: webMigrations };
  return openFile({ path, synchronous, ...file }, () => undefined).handle;
}
