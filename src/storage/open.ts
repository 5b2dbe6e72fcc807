import { type SqliteStorage, type Storage, StorageError, type StorageLog } from "./database.ts";
import { openPostgres } from "./postgres/open.ts";
import { openSqlite } from "./sqlite/open.ts";

export interface StorageOptions {
  /** Gets problems in the background, which fail no call. Nothing is logged without it. */
  log?: StorageLog;
}

const noLog: StorageLog = { info: () => undefined, warn: () => undefined };

/**
 * Opens the storage of the URL and migrates it to the newest schema: `sqlite:PATH`, `sqlite::memory:` or
 * `postgres://user:password@host:port/database`. Rejects with a `StorageError` if it cannot be used.
 */
export function openStorage(url: `sqlite:${string}`, options?: StorageOptions): Promise<SqliteStorage>;
export function openStorage(url: string, options?: StorageOptions): Promise<Storage>;
export async function openStorage(url: string, { log = noLog }: StorageOptions = {}): Promise<Storage> {
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length), log);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url);
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
