import { type SqlitePlace, type Storage, StorageError, type StorageLog } from "./database.ts";
import { openPostgres, planPostgresAt, preparePostgres } from "./postgres/open.ts";
import { type Preparation, type Schema, stepsFor } from "./schema.ts";
import type { SchemaPlan } from "./schema-state.ts";
import { planSqlite } from "./sqlite/migrate.ts";
import { openSqlite, placeOf, prepareSqlite } from "./sqlite/open.ts";

export interface OpenOptions {
  schema: Schema;
  /** Returns the zone of the storage's days. */
  prepare: Preparation<string>;
  /** Gets problems in the background, which fail no call. Nothing is logged without it. */
  log?: StorageLog | undefined;
  /**
   * False in a second thread of a process that has the SQLite file open: each thread counts its own connections only, and the descriptor
   * that checkpoints need would be closed with this storage, and the locks of the process's other connections with it.
   */
  checkpoints?: boolean | undefined;
}

/**
 * Opens the storage of the URL and migrates it to the newest schema: `sqlite:PATH`, `sqlite::memory:` or
 * `postgres://user:password@host:port/database`. Rejects with a `StorageError` if it cannot be used.
 */
export async function openDatabase(url: string, options: OpenOptions): Promise<Storage> {
  const sqlite = sqliteLocation(url);
  return sqlite === undefined ? openPostgres(url, options) : openSqlite(sqlite, options);
}

/** Migrates the storage and does something with it. Rejects with a `StorageError` if it cannot be used. */
export async function prepareDatabase(url: string, schema: Schema, work: Preparation<void>): Promise<void> {
  const sqlite = sqliteLocation(url);
  if (sqlite === undefined) return preparePostgres(url, schema, work.postgres);
  prepareSqlite(sqlite, schema, work.sqlite).handle.close();
}

/**
 * What opening the storage would change, without any change of it. Rejects with a `StorageError` if it cannot be used. `filesBeside`
 * has the steps of the files that SQLite has beside the storage's own, which are planned once they are there.
 */
export async function planMigration(
  url: string,
  schema: Schema,
  filesBeside: (place: SqlitePlace) => SchemaPlan[],
): Promise<SchemaPlan[]> {
  const sqlite = sqliteLocation(url);
  if (sqlite === undefined) return [await planPostgresAt(url, schema)];
  const place = placeOf(sqlite);
  return [planSqlite(place, stepsFor("sqlite", schema.steps)), ...filesBeside(place)];
}

/** The rest of the URL, of SQLite; undefined for Postgres. */
function sqliteLocation(url: string): string | undefined {
  if (url.startsWith("sqlite:")) return url.slice("sqlite:".length);
  if (/^postgres(ql)?:\/\//.test(url)) return undefined;
  throw new StorageError(
    `storage: "${url.split(":")[0]}" is no storage that this version knows; write sqlite:PATH or postgres://…`,
  );
}

/** A storage's URL without its password, for messages. */
export function withoutPassword(url: string): string {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return url;
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}
