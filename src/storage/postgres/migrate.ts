import type { SQL, TransactionSQL } from "bun";
import { StorageError } from "../database.ts";
import type { EngineStep } from "../schema.ts";
import { missingSteps, planOf, type SchemaPlan, type SchemaState, stateAfter } from "../schema-state.ts";

/** The lock taken by migrating processes; any number, the same in every version. */
const MIGRATION_LOCK = 7_463_950_127;

/** The first major version whose PL/pgSQL can assign to a field of an array's element. */
const SERVER_VERSION_MIN = 14;

/**
 * Migrates the schema in one transaction under an advisory lock, so any number of nodes may start simultaneously: the
 * first one migrates, the others find the schema up to date. Throws a `StorageError` if a newer version has made it unusable for
 * this one.
 */
export async function migratePostgres(pool: SQL, steps: readonly EngineStep[]): Promise<void> {
  await pool.begin(async (transaction) => {
    // The others wait as long as the first one needs.
    await transaction.unsafe("SET LOCAL statement_timeout = 0");
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await requireServerVersion(transaction);
    await transaction.unsafe("CREATE TABLE IF NOT EXISTS tollgate_schema (version bigint NOT NULL, oldest bigint)");
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

async function applyMissing(transaction: TransactionSQL, steps: readonly EngineStep[]): Promise<void> {
  const missing = missingSteps(steps, await schemaState(transaction));
  if (missing.length === 0) return;
  for (const { sql } of missing) await transaction.unsafe(sql);
  const { version, oldest } = stateAfter(steps);
  // A version before the column leaves it empty.
  await transaction.unsafe("ALTER TABLE tollgate_schema ADD COLUMN IF NOT EXISTS oldest bigint");
  await transaction.unsafe("DELETE FROM tollgate_schema");
  await transaction.unsafe("INSERT INTO tollgate_schema (version, oldest) VALUES ($1, $2)", [version, oldest]);
}

/** Earlier versions noted no oldest one: the schema was for those alone that knew all of it. */
async function schemaState(connection: SQL | TransactionSQL): Promise<SchemaState> {
  const [row] = await connection.unsafe<{ version: bigint; oldest: string | null }[]>(
    "SELECT version, to_jsonb(tollgate_schema) ->> 'oldest' AS oldest FROM tollgate_schema",
  );
  const version = Number(row?.version ?? 0n);
  return { version, oldest: Number(row?.oldest ?? version) };
}

/** What opening the database would change. Throws like `migratePostgres`. */
export async function planPostgres(pool: SQL, place: string, steps: readonly EngineStep[]): Promise<SchemaPlan> {
  const [table] = await pool.unsafe<{ name: string | null }[]>("SELECT to_regclass('tollgate_schema')::text AS name");
  const isNew = table?.name === null;
  return planOf(place, steps, isNew ? { version: 0, oldest: 0 } : await schemaState(pool));
}
