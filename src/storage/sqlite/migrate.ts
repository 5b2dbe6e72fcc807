import type { Database } from "bun:sqlite";
import { StorageError } from "../database.ts";

/**
 * Migrates the schema by the steps that it lacks, under the write lock, so several processes may start simultaneously. A
 * schema newer than this code stops the start: an older version must not write to it.
 */
export function migrateSqlite(handle: Database, steps: readonly string[]): void {
  if (schemaVersion(handle) === steps.length) return;
  // A step may write a table again that others refer to. Within a transaction references cannot be turned off.
  const references = handle.query<{ foreign_keys: bigint | number }, []>("PRAGMA foreign_keys").get();
  handle.run("PRAGMA foreign_keys = OFF");
  try {
    migrate(handle, steps);
  } finally {
    handle.run(`PRAGMA foreign_keys = ${references?.foreign_keys ?? 0}`);
  }
}

function migrate(handle: Database, steps: readonly string[]): void {
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
      const [broken] = handle.query<{ table: string }, []>("PRAGMA foreign_key_check").all();
      if (broken !== undefined) throw new StorageError(`storage: rows of ${broken.table} refer to missing ones`);
      handle.run(`PRAGMA user_version = ${steps.length}`);
    })
    .immediate();
}

/** The number of steps that the file has taken. */
export function schemaVersion(handle: Database): number {
  return Number(handle.query<{ user_version: bigint }, []>("PRAGMA user_version").get()?.user_version ?? 0n);
}
