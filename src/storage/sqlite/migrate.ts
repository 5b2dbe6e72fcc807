import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { type SqlitePlace, StorageError } from "../database.ts";
import type { EngineStep } from "../schema.ts";
import { missingSteps, planOf, type SchemaPlan, type SchemaState, stateAfter } from "../schema-state.ts";

/**
 * Migrates the schema by the steps that it lacks, under the write lock, so several processes may start simultaneously. Throws a
 * `StorageError` if a newer version has made it unusable for this one.
 */
export function migrateSqlite(handle: Database, steps: readonly EngineStep[]): void {
  if (missingSteps(steps, schemaState(handle)).length === 0) return;
  // A step may write a table again that others refer to. Within a transaction references cannot be turned off.
  const references = handle.query<{ foreign_keys: bigint | number }, []>("PRAGMA foreign_keys").get();
  handle.run("PRAGMA foreign_keys = OFF");
  try {
    migrate(handle, steps);
  } finally {
    handle.run(`PRAGMA foreign_keys = ${references?.foreign_keys ?? 0}`);
  }
}

function migrate(handle: Database, steps: readonly EngineStep[]): void {
  handle
    .transaction(() => {
      // Read again under the lock, because another process may have migrated in the meantime.
      const missing = missingSteps(steps, schemaState(handle));
      if (missing.length === 0) return;
      for (const { sql } of missing) handle.run(sql);
      const [broken] = handle.query<{ table: string }, []>("PRAGMA foreign_key_check").all();
      if (broken !== undefined) throw new StorageError(`storage: rows of ${broken.table} refer to missing ones`);
      const { version, oldest } = stateAfter(steps);
      handle.run(`PRAGMA user_version = ${version}`);
      handle.run(
        "CREATE TABLE IF NOT EXISTS tollgate_schema (version INTEGER NOT NULL, oldest INTEGER NOT NULL) STRICT",
      );
      handle.run("DELETE FROM tollgate_schema");
      handle.run(`INSERT INTO tollgate_schema (version, oldest) VALUES (${version}, ${oldest})`);
    })
    .immediate();
}

/** The number of steps that the file has taken. */
export function schemaVersion(handle: Database): number {
  return Number(handle.query<{ user_version: bigint }, []>("PRAGMA user_version").get()?.user_version ?? 0n);
}

/** Earlier versions noted no oldest one: the schema was for those alone that knew all of it. */
export function schemaState(handle: Database): SchemaState {
  const version = schemaVersion(handle);
  const hasNote = handle.query("SELECT 1 FROM sqlite_master WHERE name = 'tollgate_schema'").get() !== null;
  if (!hasNote) return { version, oldest: version };
  const note = handle
    .query<{ oldest: bigint }, [number]>("SELECT oldest FROM tollgate_schema WHERE version = ?")
    .get(version);
  return { version, oldest: Number(note?.oldest ?? version) };
}

/** What opening the file would change; a file that is missing is not created. Throws like `migrateSqlite`. */
export function planSqlite({ path }: Pick<SqlitePlace, "path">, steps: readonly EngineStep[]): SchemaPlan {
  if (path === ":memory:" || !existsSync(path)) return planOf(path, steps, { version: 0, oldest: 0 });
  const handle = new Database(path, { readwrite: true, create: false, safeIntegers: true });
  try {
    return planOf(path, steps, schemaState(handle));
  } finally {
    handle.close();
  }
}
