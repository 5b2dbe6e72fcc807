import { retried, type Storage } from "../../src/storage/index.ts";
import { openWebDatabase } from "../../src/web/index.ts";
import type { PostgresServer } from "./postgres.ts";

/** The storage engines of a gateway. */
export const engines = ["SQLite", "Postgres"] as const;
export type Engine = (typeof engines)[number];

/** The part of a gateway's options that gives it a new storage of that kind. */
export async function storageOn(
  engine: Engine,
  postgres: Pick<PostgresServer, "createDatabase">,
): Promise<{ storage?: string }> {
  return engine === "Postgres" ? { storage: await postgres.createDatabase() } : {};
}

/** Runs a statement on a gateway's storage, beside whatever the gateway does; integers come back as bigints. */
export async function query<Row>(storage: Storage, statement: string): Promise<Row[]> {
  if (storage.engine === "postgres") return storage.statements.run<Row>(statement);
  // Another process may have the file's write lock for a moment.
  return retried(() => storage.handle.query<Row, []>(statement).all());
}

/** The same for the tables of the web, which have a file of their own on SQLite. */
export async function queryWeb<Row>(storage: Storage, statement: string): Promise<Row[]> {
  if (storage.engine === "postgres") return query(storage, statement);
  const database = openWebDatabase(storage.place);
  try {
    return database.query<Row, []>(statement).all();
  } finally {
    database.close();
  }
}

/** The tables that have this text anywhere in a row; bytes are read as Latin-1. */
export async function tablesWith(storage: Storage, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const run of storage.engine === "sqlite" ? [query, queryWeb] : [query]) {
    const names = await run<{ name: string }>(
      storage,
      storage.engine === "sqlite"
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
    );
    if (names.length < 5) throw new Error("the storage has lost its tables");
    for (const { name } of names) {
      const rows = await run<Record<string, unknown>>(storage, `SELECT * FROM ${name}`);
      if (rows.some((row) => Object.values(row).some((value) => textOf(value).includes(text)))) found.push(name);
    }
  }
  return found;
}

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value);

/** A lease is two minutes long; this makes that time pass for every hold that is open. */
export async function letLeasesLapse(storage: Storage): Promise<void> {
  await query(storage, "UPDATE holds SET lease_until = 1");
}
