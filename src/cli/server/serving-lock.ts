import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../options.ts";

/** The interval at which a process that replaces another one looks whether that has ended. */
const LOOK_MS = 200;

interface ServingLock {
  /** Whether a process that is to be replaced had it. */
  isHeldByOther: boolean;
  release: () => void;
}

/**
 * Lets one process at a time serve a file of SQLite, by an exclusive lock on an empty file beside it, which the system releases when
 * the process ends, however it does. Throws a `UsageError` if another process has it, unless that is to be replaced: then the lock is
 * taken when it has ended.
 */
export function lockServing(file: string, { replaces }: { replaces: boolean }): ServingLock {
  const database = openBeside(file);
  // The storage can't be opened either then, and its error names the reason.
  if (database === undefined) return { isHeldByOther: false, release: () => undefined };
  const isHeldByOther = !tryLock(database);
  let timer: Timer | undefined;
  if (isHeldByOther) {
    if (!replaces) {
      database.close();
      throw new UsageError(
        `another gateway serves ${file}: stop it, or replace it by serve --handover (SQLite serves one process)`,
      );
    }
    timer = setInterval(() => {
      if (tryLock(database)) clearInterval(timer);
    }, LOOK_MS);
    timer.unref();
  }
  const release = (): void => {
    clearInterval(timer);
    database.close();
  };
  return { isHeldByOther, release };
}

function openBeside(file: string): Database | undefined {
  const path = `${file}-serving`;
  let database: Database;
  try {
    mkdirSync(dirname(path), { recursive: true });
    database = new Database(path, { create: true });
  } catch {
    return undefined;
  }
  chmodSync(path, 0o600);
  return database;
}

function tryLock(database: Database): boolean {
  try {
    database.run("BEGIN EXCLUSIVE");
    return true;
  } catch (cause) {
    if (cause instanceof SQLiteError && cause.code === "SQLITE_BUSY") return false;
    throw cause;
  }
}
