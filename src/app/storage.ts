import { agreeOnTimezone, recountDays } from "../ledger/sql/schema.ts";
import { openDatabase, prepareDatabase, type SqliteStorage, type Storage, type StorageLog } from "../storage/index.ts";
import { schema } from "./schema.ts";

export interface StorageOptions {
  /** Gets problems in the background, which fail no call. Nothing is logged without it. */
  log?: StorageLog;
  /** The zone that its days must have; by default, those that they have. A storage without calls takes it over. */
  timezone?: string | undefined;
}

/** Opens the storage of the URL with the tables of all features; see `openDatabase`. */
export function openStorage(url: `sqlite:${string}`, options?: StorageOptions): Promise<SqliteStorage>;
export function openStorage(url: string, options?: StorageOptions): Promise<Storage>;
export function openStorage(url: string, { log, timezone }: StorageOptions = {}): Promise<Storage> {
  return openDatabase(url, { schema, prepare: agreeOnTimezone(timezone), log });
}

/**
 * Changes the time zone of the storage's days and counts every call again by them. Rejects with a `StorageError` if the
 * zone is unknown, or if entries were removed, whose calls can't be counted again.
 */
export function changeTimezone(url: string, zone: string): Promise<void> {
  return prepareDatabase(url, schema, recountDays(zone));
}
