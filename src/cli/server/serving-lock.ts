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
  const path = `${file}-serving`;
  if (!canOpen(path)) return { isHeldByOther: false, release: () => undefined };
  let held = tryLock(path);
  const isHeldByOther = held === undefined;
  let timer: Timer | undefined;
  if (isHeldByOther) {
    if (!replaces)
      throw new UsageError(
        `another gateway serves ${file}: stop it, or replace it by serve --handover (SQLite serves one process)`,
      );
    timer = setInterval(() => {
      held = tryLock(path);
      if (held !== undefined) clearInterval(timer);
    }, LOOK_MS);
    timer.unref();
  }
  const release = (): void => {
    clearInterval(timer);
    held?.close();
  };
  return { isHeldByOther, release };
}

/** Whether there can be a file. If not, the storage can't be opened either, and its error names the reason. */
function canOpen(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    new Database(path, { create: true }).close();
    return true;
  } catch {
    return false;
  }
}

function tryLock(path: string): Database | undefined {
  const database = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if (cause instanceof SQLiteError && cause.code === "SQLITE_BUSY") return undefined;
    throw cause;
  }
}
