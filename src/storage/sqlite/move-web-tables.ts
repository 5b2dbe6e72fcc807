/** Earlier versions had the tables of the web in the storage's own file. */
import type { Database } from "bun:sqlite";
import type { WebDatabase } from "../database.ts";
import { schemaVersion } from "./migrate.ts";
import { DROP_WEB_TABLES, MOVED_TABLES, STEPS_BEFORE_WEB, WEB_STEPS } from "./migrations.ts";
import { openWebDatabase } from "./web-database.ts";
import { webMigrations } from "./web-migrations.ts";

/**
 * Moves the tables to the web's file, under the lock of the storage's: a process of an earlier version that still runs cannot
 * write to them between the copy and the removal. If the machine stops in between, the next start copies them again.
 */
export function moveWebTables(handle: Database, web: WebDatabase): void {
  if (!hasWebTables(handle)) return;
  openWebDatabase(web).close();
  handle.query("ATTACH ? AS web").run(web.path);
  try {
    handle.transaction(() => move(handle)).immediate();
  } finally {
    handle.run("DETACH web");
  }
}

function hasWebTables(handle: Database): boolean {
  const version = schemaVersion(handle);
  return version > STEPS_BEFORE_WEB && version <= STEPS_BEFORE_WEB + WEB_STEPS;
}

function move(handle: Database): void {
  // Another process that starts simultaneously may have moved them.
  if (!hasWebTables(handle)) return;
  for (const step of webMigrations.slice(schemaVersion(handle) - STEPS_BEFORE_WEB, WEB_STEPS)) handle.run(step);
  const known = handle.query<{ name: string }, []>("SELECT name FROM main.sqlite_master WHERE type = 'table'").all();
  for (const table of MOVED_TABLES.filter((name) => known.some((each) => each.name === name))) {
    handle.run(`DELETE FROM web.${table}`);
    handle.run(`INSERT INTO web.${table} SELECT * FROM main.${table}`);
  }
  handle.run(DROP_WEB_TABLES);
  handle.run(`PRAGMA main.user_version = ${STEPS_BEFORE_WEB + WEB_STEPS + 1}`);
}
