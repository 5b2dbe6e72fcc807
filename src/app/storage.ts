import { agreeOnTimezone, recountDays } from "../ledger/sql/schema.ts";
import {
  openDatabase,
  planMigration,
  prepareDatabase,
  type SchemaPlan,
  type SqliteStorage,
  type Storage,
  StorageError,
  type StorageLog,
} from "../storage/index.ts";
import { openWebDatabase, planWebFile } from "../web/sql/schema.ts";
import { schema } from "./schema.ts";

interface MigrationOptions {
  /** Whether missing steps of the schema are applied, which is the default; otherwise a storage that lacks any is refused. */
  migrates?: boolean | undefined;
}

export interface StorageOptions extends MigrationOptions {
  /** Gets problems in the background, which fail no call. Nothing is logged without it. */
  log?: StorageLog;
  /** The zone that its days must have; by default, those that they have. A storage without calls takes it over. */
  timezone?: string | undefined;
  /** Whether SQLite's write-ahead log is copied from here, which is the default; see `OpenOptions`. */
  checkpoints?: boolean | undefined;
}

/** Opens the storage of the URL with the tables of all features; see `openDatabase`. */
export function openStorage(url: `sqlite:${string}`, options?: StorageOptions): Promise<SqliteStorage>;
export function openStorage(url: string, options?: StorageOptions): Promise<Storage>;
export async function openStorage(
  url: string,
  { log, timezone, checkpoints, migrates = true }: StorageOptions = {},
): Promise<Storage> {
  if (!migrates) await refuseMissingSteps(url);
  return openDatabase(url, { schema, prepare: agreeOnTimezone(timezone), log, checkpoints });
}

/**
 * Changes the time zone of the storage's days and counts every call again by them. Rejects with a `StorageError` if the
 * zone is unknown, or if entries were removed, whose calls can't be counted again.
 */
export async function changeTimezone(
  url: string,
  zone: string,
  { migrates = true }: MigrationOptions = {},
): Promise<void> {
  if (!migrates) await refuseMissingSteps(url);
  return prepareDatabase(url, schema, recountDays(zone));
}

/** What opening the storage would change in its database, or in each of its files. Rejects with a `StorageError` if it cannot be used. */
export function planStorage(url: string): Promise<SchemaPlan[]> {
  return planMigration(url, schema, planWebFile);
}

/** Applies the missing steps. */
export async function migrateStorage(url: string): Promise<void> {
  const storage = await openStorage(url);
  if (storage.engine === "sqlite" && planWebFile(storage.place).length > 0) openWebDatabase(storage.place).close();
  await storage.close();
}

async function refuseMissingSteps(url: string): Promise<void> {
  const count = (await planStorage(url)).reduce((sum, { missing }) => sum + missing.length, 0);
  if (count === 0) return;
  throw new StorageError(
    `storage: its schema lacks ${count === 1 ? "a step" : `${count} steps`} of this Tollgate, and storage_migrate is manual; run: tollgate migrate --apply`,
  );
}
