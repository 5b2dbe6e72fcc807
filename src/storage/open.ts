import { type SqliteStorage, type Storage, StorageError, type StorageLog } from "./database.ts";
import { changePostgresTimezone, openPostgres } from "./postgres/open.ts";
import { changeSqliteTimezone, openSqlite } from "./sqlite/open.ts";

export interface StorageOptions {
  /** Gets problems in the background, which fail no call. Nothing is logged without it. */
  log?: StorageLog;
  /** The zone that its days must have; by default, those that they have. A storage without calls takes it over. */
  timezone?: string | undefined;
}

const noLog: StorageLog = { info: () => undefined, warn: () => undefined };

/**
 * Opens the storage of the URL and migrates it to the newest schema: `sqlite:PATH`, `sqlite::memory:` or
 * `postgres://user:password@host:port/database`. Rejects with a `StorageError` if it cannot be used.
 */
export function openStorage(url: `sqlite:${string}`, options?: StorageOptions): Promise<SqliteStorage>;
export function openStorage(url: string, options?: StorageOptions): Promise<Storage>;
export async function openStorage(url: string, options: StorageOptions = {}): Promise<Storage> {
  const { log = noLog, timezone } = options;
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length), { log, timezone });
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, timezone);
  throw unknownStorage(url);
}

/**
 * Changes the time zone of the storage's days and counts every call again by them. Rejects with a `StorageError` if the
 * zone is unknown, or if entries were removed, whose calls can't be counted again.
 */
export async function changeTimezone(url: string, zone: string): Promise<void> {
  if (url.startsWith("sqlite:")) return changeSqliteTimezone(url.slice("sqlite:".length), zone);
  if (/^postgres(ql)?:\/\//.test(url)) return changePostgresTimezone(url, zone);
  throw unknownStorage(url);
}

function unknownStorage(url: string): StorageError {
  return new StorageError(
    `storage: "${url.split(":")[0]}" is no storage that this version knows; write sqlite:PATH or postgres://…`,
  );
}

/** A storage's URL without its password, for messages. */
export function withoutPassword(url: string): string {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return url;
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}
