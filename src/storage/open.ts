import { type Storage, StorageError } from "./database.ts";
import { openSqlite } from "./sqlite/open.ts";

/**
 * Opens the storage that the URL names, migrated to the newest schema: `sqlite:PATH` or `sqlite::memory:`.
 * Throws `StorageError` where it can't be used.
 */
export function openStorage(url: string): Storage {
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length));
  throw new StorageError(`storage: "${url.split(":")[0]}" is no storage that this version knows; write sqlite:PATH`);
}
