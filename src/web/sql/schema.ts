/** Earlier versions had the tables of the web in the storage's own file. */
import type { Database } from "bun:sqlite";
import { schemaVersion, type SqlitePlace } from "../../storage/index.ts";
import { openWebDatabase, webFileSteps, webPlace } from "./web-database.ts";

export { openWebDatabase, planWebFile } from "./web-database.ts";

/** How many steps of earlier versions made tables of the web, and how many came before. */
const WEB_STEPS = 4;
const STEPS_BEFORE_WEB = 14;

/**
 * Not the local search: SQLite keeps no text of it, and lets nobody write the tables of its index. Its pages are found again once
 * they have been read again.
 */
const MOVED_TABLES = [
  "stored_bytes",
  "crawls",
  "crawl_pages",
  "crawl_lanes",
  "web_hosts",
  "crawl_notes",
  "crawl_results",
];

export const WITHOUT_WEB_TABLES = {
  sqlite: [...MOVED_TABLES, "web_documents", "web_words"]
    .map((table) => `DROP TABLE IF EXISTS main.${table};`)
    .join("\n"),
};

/**
 * Moves the tables to the web's file, under the lock of the storage's: a process of an earlier version that still runs cannot
 * write to them between the copy and the removal. If the machine stops in between, the next start copies them again.
 */
export function moveWebTables(handle: Database, place: SqlitePlace): void {
  if (!hasWebTables(handle)) return;
  openWebDatabase(place).close();
  handle.query("ATTACH ? AS web").run(webPlace(place).path);
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
  for (const step of webFileSteps.slice(schemaVersion(handle) - STEPS_BEFORE_WEB, WEB_STEPS)) handle.run(step.sqlite);
  const known = handle.query<{ name: string }, []>("SELECT name FROM main.sqlite_master WHERE type = 'table'").all();
  for (const table of MOVED_TABLES.filter((name) => known.some((each) => each.name === name))) {
    handle.run(`DELETE FROM web.${table}`);
    handle.run(`INSERT INTO web.${table} SELECT * FROM main.${table}`);
  }
  handle.run(WITHOUT_WEB_TABLES.sqlite);
  handle.run(`PRAGMA main.user_version = ${STEPS_BEFORE_WEB + WEB_STEPS + 1}`);
}
