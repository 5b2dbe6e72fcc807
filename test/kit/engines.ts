import type { Storage } from "../../src/storage/index.ts";
import type { PostgresServer } from "./postgres.ts";

/** What a gateway may keep its state in. */
export const engines = ["SQLite", "Postgres"] as const;
export type Engine = (typeof engines)[number];

/** The part of a gateway's options that gives it a new storage of that kind. */
export async function storageOn(engine: Engine, postgres: PostgresServer): Promise<{ storage?: string }> {
  return engine === "Postgres" ? { storage: await postgres.createDatabase() } : {};
}

/** Runs a statement on a gateway's storage, beside whatever the gateway does; integers come back as bigints. */
export async function query<Row>(storage: Storage, statement: string): Promise<Row[]> {
  if (storage.engine === "postgres") return storage.statements.run<Row>(statement);
  return storage.handle.query<Row, []>(statement).all();
}

/** A lease is two minutes long; this makes that time pass for every hold that is open. */
export async function letLeasesLapse(storage: Storage): Promise<void> {
  await query(storage, "UPDATE holds SET lease_until = 1");
}
