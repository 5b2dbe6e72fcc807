import type { Database } from "bun:sqlite";
import { GatewayError } from "../../core/index.ts";
import { type SqlitePlace, type SqliteStorage, StorageError, type StorageLog } from "../database.ts";
import { CHECK_WRITE } from "../readiness.ts";
import { type Preparation, type Schema, stepsFor } from "../schema.ts";
import { missingSteps } from "../schema-state.ts";
import { Checkpointer } from "./checkpointer.ts";
import { countClosed, countOpened } from "./descriptors.ts";
import { schemaState } from "./migrate.ts";
import { prepareFile } from "./prepare-file.ts";
import { SqliteReader } from "./reader.ts";
import { retried } from "./retry-locked.ts";

const noLog: StorageLog = { info: () => undefined, warn: () => undefined };

/** Bytes of a page of a new file. A call's rows are small, and each changed page is written whole. */
const PAGE_BYTES = 2_048;

/** The length of the write-ahead log at which a commit itself makes a checkpoint, because the checkpointer has not. */
const WAL_BYTES_MAX = 48 * 2 ** 20;

/** How long a statement waits for another process's transaction: nothing else happens meanwhile. See `retried`. */
const BUSY_MS = 5;

/** The interval at which commits of other processes are detected; it bounds how long a revoked token still works. */
const FOREIGN_COMMIT_POLL_MS = 200;

interface OpenOptions {
  schema: Schema;
  prepare: Preparation<string>;
  log?: StorageLog | undefined;
  checkpoints?: boolean | undefined;
}

/**
 * Opens the file; a missing one is created, readable by its owner only. WAL with `synchronous=NORMAL`: a commit
 * survives a killed process; a power failure can lose the last moments, never the file's consistency.
 * `sqlite:PATH?synchronous=full` adds a disk flush per commit to survive that as well.
 */
export function openSqlite(
  location: string,
  { schema, prepare, log = noLog, checkpoints = true }: OpenOptions,
): SqliteStorage {
  const { handle, result: timezone, place } = prepareSqlite(location, schema, prepare.sqlite);
  const file = fileOf(handle);
  const steps = stepsFor("sqlite", schema.steps);
  if (file !== undefined) countOpened(file);
  const reader = file === undefined ? undefined : new SqliteReader(file);
  const checkpointer = file === undefined || !checkpoints ? undefined : new Checkpointer({ handle, path: file, log });
  let isOpen = true;
  const close = (): void => {
    handle.close();
    if (isOpen && file !== undefined) countClosed(file);
    isOpen = false;
  };
  const watches = new Set<() => void>();
  const closers: (() => Promise<void>)[] = [];
  return {
    engine: "sqlite",
    timezone,
    handle,
    file,
    place,
    reader,
    requireUsable: () => void missingSteps(steps, schemaState(handle)),
    onClose(callback) {
      closers.push(callback);
    },
    onForeignCommit(callback) {
      const stop = watchForeignCommits(handle, callback);
      watches.add(stop);
      return stop;
    },
    async check() {
      try {
        await retried(() => handle.query(CHECK_WRITE.sqlite).run());
      } catch (cause) {
        throw new GatewayError("storage_unavailable", "The storage takes no writes.", { cause, retryAfterSeconds: 1 });
      }
    },
    close() {
      // A watch must not read a closed file.
      for (const stop of watches) stop();
      const waits = closers.map((callback) => callback());
      if (reader?.isStarted === true) waits.push(reader.stop());
      const checkpointed = checkpointer?.stop();
      if (checkpointed !== undefined) waits.push(checkpointed);
      return waits.length === 0 ? close() : Promise.all(waits).then(close);
    },
  };
}

/** Opens and migrates the file, without what an open storage has besides. Throws a `StorageError` if it cannot be used. */
export function prepareSqlite<T>(
  location: string,
  { steps, beforeSqlite }: Schema,
  prepare: (handle: Database) => T,
): { handle: Database; result: T; place: SqlitePlace } {
  const place = placeOf(location);
  const before = (handle: Database): void => beforeSqlite(handle, place);
  const file = { pageBytes: PAGE_BYTES, walBytesMax: WAL_BYTES_MAX, busyMs: BUSY_MS, before };
  return { ...prepareFile({ ...place, ...file, steps: stepsFor("sqlite", steps) }, prepare), place };
}

/** Throws a `StorageError` if its parameter is none. */
export function placeOf(location: string): SqlitePlace {
  const [path = "", query = ""] = location.split("?");
  const synchronous = new URLSearchParams(query).get("synchronous") ?? "normal";
  if (!/^(normal|full)$/i.test(synchronous))
    throw new StorageError(`storage: synchronous is normal or full, not "${synchronous}"`);
  return { path, synchronous };
}

/** The absolute path of the file; undefined for a database in memory. */
function fileOf(handle: Database): string | undefined {
  const databases = handle.query<{ name: string; file: string }, []>("PRAGMA database_list").all();
  const file = databases.find(({ name }) => name === "main")?.file;
  return file === "" ? undefined : file;
}

/** `data_version` changes when another connection commits, and costs a read of shared memory. */
function watchForeignCommits(handle: Database, callback: () => void): () => void {
  const statement = handle.query<{ data_version: bigint }, []>("PRAGMA data_version");
  let last = statement.get()?.data_version;
  const timer = setInterval(() => {
    let current: bigint | undefined;
    try {
      current = statement.get()?.data_version;
    } catch {
      // A file that cannot be read is noticed by those who need it; nothing catches what a timer throws.
      return;
    }
    if (current === last) return;
    last = current;
    callback();
  }, FOREIGN_COMMIT_POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
