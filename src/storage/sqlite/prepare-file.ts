import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type SqlitePlace, StorageError } from "../database.ts";
import type { EngineStep } from "../schema.ts";
import { migrateSqlite } from "./migrate.ts";

/** How long a start waits for another process that opens the file. */
const OPEN_BUSY_MS = 5_000;

/** The time-out of a start for another process that migrates the schema. */
const MIGRATION_BUSY_MS = 600_000;

/** The delay before a start that met a lock retries. */
const LOCKED_RETRY_MS = 10;

/** Bun prepares statements again once more than 20 are in use, which takes longer than to run most of them. */
Database.MAX_QUERY_CACHE_SIZE = 1_000;

export interface FileOptions extends SqlitePlace {
  /** Bytes of a page of a new file. */
  pageBytes: number;
  /** The length of the write-ahead log at which a commit itself makes a checkpoint. */
  walBytesMax: number;
  steps: readonly EngineStep[];
  /** How long a statement waits for another process's transaction, and the thread with it, in milliseconds. */
  busyMs: number;
  /** Called before the migration. */
  before?: ((handle: Database) => void) | undefined;
}

/**
 * Opens the file, migrates it and does the rest of its preparation. Several processes may start simultaneously, and the
 * first one may have millions of rows to migrate. Throws a `StorageError` if it cannot be used.
 */
export function prepareFile<T>(
  options: FileOptions,
  prepare: (handle: Database) => T,
): { handle: Database; result: T } {
  const handle = open(options);
  try {
    handle.run(`PRAGMA busy_timeout = ${MIGRATION_BUSY_MS}`);
    options.before?.(handle);
    migrateSqlite(handle, options.steps);
    const result = prepare(handle);
    handle.run(`PRAGMA busy_timeout = ${options.busyMs}`);
    return { handle, result };
  } catch (cause) {
    handle.close();
    if (cause instanceof StorageError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StorageError(`storage: cannot prepare ${options.path}: ${reason}`, { cause });
  }
}

/** Only the first access detects a file that is not a database. */
function open({ path, synchronous, pageBytes, walBytesMax }: FileOptions): Database {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
    const handle = new Database(path, { create: true, safeIntegers: true, strict: true });
    if (path !== ":memory:") chmodSync(path, 0o600);
    handle.run(`PRAGMA busy_timeout = ${OPEN_BUSY_MS}`);
    handle.run(`PRAGMA page_size = ${pageBytes}`);
    whileLocked(() => handle.run("PRAGMA journal_mode = WAL"));
    handle.run(`PRAGMA synchronous = ${synchronous}`);
    handle.run("PRAGMA foreign_keys = ON");
    handle.run(`PRAGMA wal_autocheckpoint = ${Math.floor(walBytesMax / pageBytesOf(handle, pageBytes))}`);
    return handle;
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    throw new StorageError(`storage: cannot open ${path}${reason}`, { cause });
  }
}

function pageBytesOf(handle: Database, byDefault: number): number {
  return Number(handle.query<{ page_size: bigint }, []>("PRAGMA page_size").get()?.page_size ?? byDefault);
}

/**
 * SQLite refuses to change the journal mode immediately, ignoring `busy_timeout`, while another process that starts or
 * ends does the same.
 */
function whileLocked(work: () => void): void {
  for (let waited = 0; ; waited += LOCKED_RETRY_MS) {
    try {
      return work();
    } catch (reason) {
      const locked = reason instanceof SQLiteError && (reason.code ?? "").startsWith("SQLITE_BUSY");
      if (!locked || waited >= OPEN_BUSY_MS) throw reason;
      Bun.sleepSync(LOCKED_RETRY_MS);
    }
  }
}
