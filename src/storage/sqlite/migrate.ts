import type { Database } from "bun:sqlite";
import { StorageError } from "../database.ts";

/**
 * Migrates the schema by the steps that it lacks, under the write lock, so several processes may start simultaneously. A
 * schema newer than this code stops the start: an older version must not write to it.
 */
export function migrateSqlite(handle: Database, steps: readonly string[]): void {
  if (schemaVersion(handle) === steps.length) return;
  handle
    .transaction(() => {
      // Read again under the lock, because another process may have migrated in the meantime.
      const version = schemaVersion(handle);
      if (version > steps.length) {
        throw new StorageError(
          `storage: its schema is version ${version}, this Tollgate knows ${steps.length}; use a newer Tollgate`,
        );
      }
      for (const step of steps.slice(version)) handle.run(step);
      handle.run(`PRAGMA user_version = ${steps.length}`);
    })
    .immediate();
}

/** The number of steps that the file has taken. */
export function schemaVersion(handle: Database): number {
  return Number(handle.query<{ user_version: bigint }, []>("PRAGMA user_version").get()?.user_version ?? 0n);
}
