import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { GatewayError } from "../../core/index.ts";
import { type SqliteStorage, StorageError, type StorageLog } from "../database.ts";
import { Checkpointer } from "./checkpointer.ts";
import { countClosed, countOpened } from "./descriptors.ts";
import { migrateSqlite } from "./migrate.ts";
import { agreeOnTimezone, recountSqlite } from "./timezone.ts";

/** The time-out for another process's transaction (a CLI command, a sweep). */
const BUSY_MS = 5_000;

/** The time-out of a start for another process that migrates the schema. */
const MIGRATION_BUSY_MS = 600_000;

/** The delay before a start that met a lock retries. */
const LOCKED_RETRY_MS = 10;

/** Bytes of a page of a new file. A call's rows are small, and each changed page is written whole. */
const PAGE_BYTES = 2_048;

/** The length of the write-ahead log at which a commit itself makes a checkpoint, because the checkpointer has not. */
const WAL_BYTES_MAX = 48 * 2 ** 20;

/** The interval at which commits of other processes are detected; it bounds how long a revoked token still works. */
const FOREIGN_COMMIT_POLL_MS = 200;

/**
 * Opens the file; a missing one is created, readable by its owner only. WAL with `synchronous=NORMAL`: a commit
 * survives a killed process; a power failure can lose the last moments, never the file's consistency.
 * `sqlite:PATH?synchronous=full` adds a disk flush per commit to survive that as well.
 */
export function openSqlite(
  location: string,
  { log, timezone: wantedZone }: { log: StorageLog; timezone: string | undefined },
): SqliteStorage {
  const { handle, result: timezone } = openMigrated(location, (opened) => agreeOnTimezone(opened, wantedZone));
  const file = fileOf(handle);
  if (file !== undefined) countOpened(file);
  const checkpointer = file === undefined ? undefined : new Checkpointer({ handle, path: file, log });
  let isOpen = true;
  const close = (): void => {
    handle.close();
    if (isOpen && file !== undefined) countClosed(file);
    isOpen = false;
  };
  const watches = new Set<() => void>();
  return {
    engine: "sqlite",
    timezone,
    handle,
    file,
    onForeignCommit(callback) {
      const stop = watchForeignCommits(handle, callback);
      watches.add(stop);
      return stop;
    },
    async check() {
      try {
        handle.query("PRAGMA schema_version").get();
      } catch (cause) {
        throw new GatewayError("storage_unavailable", "The storage can't be read.", { cause, retryAfterSeconds: 1 });
      }
    },
    close() {
      // A watch must not read a closed file.
      for (const stop of watches) stop();
      return checkpointer?.stop()?.then(close) ?? close();
    },
  };
}

/** Changes the zone of the file's days. Throws a `StorageError` if that is not possible. */
export function changeSqliteTimezone(location: string, zone: string): void {
  openMigrated(location, (handle) => recountSqlite(handle, zone)).handle.close();
}

/**
 * Opens the file, migrates it and does the rest of its preparation. Several processes may start simultaneously, and the
 * first one may have millions of rows to migrate.
 */
function openMigrated<T>(location: string, prepare: (handle: Database) => T): { handle: Database; result: T } {
  const [path = "", query = ""] = location.split("?");
  const synchronous = new URLSearchParams(query).get("synchronous") ?? "normal";
  if (!/^(normal|full)$/i.test(synchronous))
    throw new StorageError(`storage: synchronous is normal or full, not "${synchronous}"`);
  const handle = openFile(path, synchronous);
  try {
    handle.run(`PRAGMA busy_timeout = ${MIGRATION_BUSY_MS}`);
    migrateSqlite(handle);
    const result = prepare(handle);
    handle.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return { handle, result };
  } catch (reason) {
    handle.close();
    throw reason;
  }
}

/** Only the first access detects a file that is not a database. */
/** Bun prepares statements again once more than 20 are in use, which takes longer than to run most of them. */
Database.MAX_QUERY_CACHE_SIZE = 1_000;

function openFile(path: string, synchronous: string): Database {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
    const handle = new Database(path, { create: true, safeIntegers: true, strict: true });
    if (path !== ":memory:") chmodSync(path, 0o600);
    handle.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    handle.run(`PRAGMA page_size = ${PAGE_BYTES}`);
    whileLocked(() => handle.run("PRAGMA journal_mode = WAL"));
    handle.run(`PRAGMA synchronous = ${synchronous}`);
    handle.run("PRAGMA foreign_keys = ON");
    handle.run(`PRAGMA wal_autocheckpoint = ${Math.floor(WAL_BYTES_MAX / pageBytes(handle))}`);
    return handle;
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    throw new StorageError(`storage: cannot open ${path}${reason}`, { cause });
  }
}

function pageBytes(handle: Database): number {
  return Number(handle.query<{ page_size: bigint }, []>("PRAGMA page_size").get()?.page_size ?? PAGE_BYTES);
}

/** The absolute path of the file; undefined for a database in memory. */
function fileOf(handle: Database): string | undefined {
  const databases = handle.query<{ name: string; file: string }, []>("PRAGMA database_list").all();
  const file = databases.find(({ name }) => name === "main")?.file;
  return file === "" ? undefined : file;
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
      if (!locked || waited >= BUSY_MS) throw reason;
      Bun.sleepSync(LOCKED_RETRY_MS);
    }
  }
}

/** `data_version` changes when another connection commits, and costs a read of shared memory. */
function watchForeignCommits(handle: Database, callback: () => void): () => void {
  const statement = handle.query<{ data_version: bigint }, []>("PRAGMA data_version");
  let last = statement.get()?.data_version;
  const timer = setInterval(() => {
    const current = statement.get()?.data_version;
    if (current === last) return;
    last = current;
    callback();
  }, FOREIGN_COMMIT_POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
