import type { SQL, TransactionSQL } from "bun";
import { StorageError } from "../database.ts";

/** The lock taken by migrating processes; any number, the same in every version. */
const MIGRATION_LOCK = 7_463_950_127;

/** The first major version whose PL/pgSQL can assign to a field of an array's element. */
const SERVER_VERSION_MIN = 14;

/**
 * Migrates the schema in one transaction under an advisory lock, so any number of nodes may start simultaneously: the
 * first one migrates, the others find the schema up to date. A schema newer than this code stops the start: an older
 * version must not write to it.
 */
export async function migratePostgres(pool: SQL, steps: readonly string[]): Promise<void> {
  await pool.begin(async (transaction) => {
    // The others wait as long as the first one needs.
    await transaction.unsafe("SET LOCAL statement_timeout = 0");
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await requireServerVersion(transaction);
    await transaction.unsafe("CREATE TABLE IF NOT EXISTS tollgate_schema (version bigint NOT NULL)");
    await applyMissing(transaction, steps);
  });
}

async function requireServerVersion(transaction: TransactionSQL): Promise<void> {
  const [row] = await transaction.unsafe<{ number: string }[]>(
    "SELECT current_setting('server_version_num') AS number",
  );
  const major = Math.floor(Number(row?.number) / 10_000);
  if (major < SERVER_VERSION_MIN)
    throw new StorageError(`storage: this is Postgres ${major}; ${SERVER_VERSION_MIN} or newer is needed`);
}

async function applyMissing(transaction: TransactionSQL, steps: readonly string[]): Promise<void> {
  const [row] = await transaction.unsafe<{ version: bigint }[]>("SELECT version FROM tollgate_schema");
  const version = Number(row?.version ?? 0n);
  if (version > steps.length) {
    throw new StorageError(
      `storage: its schema is version ${version}, this Tollgate knows ${steps.length}; use a newer Tollgate`,
    );
  }
  if (version === steps.length) return;
  for (const step of steps.slice(version)) await transaction.unsafe(step);
  await transaction.unsafe("DELETE FROM tollgate_schema");
  await transaction.unsafe("INSERT INTO tollgate_schema VALUES ($1)", [steps.length]);
}
