import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import {
  planSqlite,
  prepareFile,
  type SchemaPlan,
  type SchemaStep,
  type SqlitePlace,
  stepsFor,
} from "../../storage/index.ts";
import { CRAWL_RETRIES, CRAWLS } from "../crawl/sql/schema.ts";
import { STORED_BYTES } from "../stored-bytes/sql/schema.ts";
import { MERGES_OF_WORDS, WEB_DOCUMENTS, WEB_FILTERS } from "../text-index/sql/schema.ts";

/** The steps of the file with the web's tables: SQLite has them beside the storage's file, since another thread writes them. */
export const webFileSteps: readonly (SchemaStep & { sqlite: string })[] = webSteps();

function webSteps(): (SchemaStep & { sqlite: string })[] {
  const merges = { sqlite: MERGES_OF_WORDS.webFile };
  const first = [STORED_BYTES, CRAWLS, WEB_DOCUMENTS, CRAWL_RETRIES].map(({ webFile }) => ({ sqlite: webFile }));
  return [...first, merges, { sqlite: WEB_FILTERS.webFile, oldest: merges }];
}

/** Bytes of a page of a new file: documents and the index have long rows. */
const PAGE_BYTES = 4_096;

/** The length of the write-ahead log at which a commit makes a checkpoint: its thread may wait for the disk. */
const WAL_BYTES_MAX = 8 * 2 ** 20;

/** How long a statement waits for another process's transaction. Only its thread waits. */
const BUSY_MS = 5_000;

/** The file of the web's tables, beside that of the storage. */
export function webPlace({ path, synchronous }: SqlitePlace): SqlitePlace {
  return { path: path === ":memory:" ? path : `${path}-web`, synchronous };
}

/**
 * Opens the database of the web's tables beside the storage at that place; a missing one is created. Throws a `StorageError` if it
 * cannot be used.
 */
export function openWebDatabase(storage: SqlitePlace): Database {
  const file = {
    pageBytes: PAGE_BYTES,
    walBytesMax: WAL_BYTES_MAX,
    busyMs: BUSY_MS,
    steps: stepsFor("sqlite", webFileSteps),
  };
  return prepareFile({ ...webPlace(storage), ...file }, () => undefined).handle;
}

/** What opening it would change; a missing one will be made by the gateway that needs it. */
export function planWebFile(storage: SqlitePlace): SchemaPlan[] {
  const place = webPlace(storage);
  return existsSync(place.path) ? [planSqlite(place, stepsFor("sqlite", webFileSteps))] : [];
}
