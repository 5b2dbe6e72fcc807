import { SQLiteError } from "bun:sqlite";

/** How long a write waits for another process's transaction in all, and the pause between two attempts. */
const LOCKED_MS_MAX = 5_000;
const PAUSE_MS = 20;

/** Fulfilled after the last write that met the lock; undefined if none waits. */
let lastWaiting: Promise<void> | undefined;

/**
 * The result of the work, or a promise of it if another process has the file's write lock: it is tried again then. SQLite itself
 * waits only for a moment, because it holds up the whole process: the rest of the wait is between attempts, in timers. The work
 * must be one transaction. Throws whatever else the work throws; rejects if the lock is still held after five seconds.
 */
export function retried<Result>(work: () => Result): Result | Promise<Awaited<Result>> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch((reason: unknown) => later(work, reason)) : result;
  } catch (reason) {
    if (!isLocked(reason)) throw reason;
    return later(work, reason);
  }
}

/** One write after the other: only the first of those that wait tries again, so that many hold up no more than one. */
async function later<Result>(work: () => Result, met: unknown): Promise<Awaited<Result>> {
  if (!isLocked(met)) throw met;
  const until = performance.now() + LOCKED_MS_MAX;
  const before = lastWaiting;
  const { promise, resolve } = Promise.withResolvers<void>();
  lastWaiting = promise;
  try {
    await (before ?? Bun.sleep(PAUSE_MS));
    return await attempted(work, until);
  } finally {
    resolve();
    if (lastWaiting === promise) lastWaiting = undefined;
  }
}

async function attempted<Result>(work: () => Result, until: number): Promise<Awaited<Result>> {
  for (;;) {
    try {
      return await work();
    } catch (reason) {
      if (!isLocked(reason) || performance.now() >= until) throw reason;
      await Bun.sleep(PAUSE_MS);
    }
  }
}

/** Whether another process has the file's write lock: nothing was written then. */
function isLocked(reason: unknown): boolean {
  return reason instanceof SQLiteError && (reason.code ?? "").startsWith("SQLITE_BUSY");
}
