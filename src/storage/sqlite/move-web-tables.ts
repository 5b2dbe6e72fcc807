/** Earlier versions had the tables of the web in the storage's own file. */
import { Database } from "bun:sqlite";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import type { WebDatabase } from "../database.ts";
import { schemaVersion } from "./migrate.ts";
import { STEPS_BEFORE_WEB, WEB_STEPS } from "./migrations.ts";
import { webMigrations } from "./web-migrations.ts";

/** The tables of the web, with those in which SQLite keeps the index of words. */
const WEB_TABLE = /^(?:stored_bytes|crawls|crawl_\w+|web_\w+|sqlite_\w+)$/;

/**
 * Copies these tables to the web's file, before the last step of the schema drops them. The file appears complete or not at
 * all: a start that is interrupted is repeated, and of several processes that start simultaneously the first one makes it.
 */
export function moveWebTables(handle: Database, { path }: WebDatabase): void {
  const version = schemaVersion(handle);
  if (path === ":memory:" || version <= STEPS_BEFORE_WEB || version > STEPS_BEFORE_WEB + WEB_STEPS) return;
  const copy = `${path}-${crypto.randomUUID()}`;
  try {
    // SQLite fills an empty file, and would make one that others can read.
    writeFileSync(copy, "", { mode: 0o600 });
    // The index of words has no text that could be indexed again: only a copy of the whole file contains it.
    handle.query("VACUUM INTO ?").run(copy);
    keepWebTables(copy, version - STEPS_BEFORE_WEB);
    linkSync(copy, path);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  } finally {
    rmSync(copy, { force: true });
  }
}

/** `steps`: how many of the web's steps the file has taken. */
function keepWebTables(path: string, steps: number): void {
  const database = new Database(path, { readwrite: true, strict: true });
  try {
    const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name } of tables) if (!WEB_TABLE.test(name)) database.run(`DROP TABLE ${name}`);
    for (const step of webMigrations.slice(steps, WEB_STEPS)) database.run(step);
    database.run(`PRAGMA user_version = ${WEB_STEPS}`);
    database.run("VACUUM");
  } finally {
    database.close();
  }
}
