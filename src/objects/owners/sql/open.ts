import { retryLocked, type Storage } from "../../../storage/index.ts";
import type { FileStore } from "../file-store.ts";
import type { ObjectOwnerStore } from "../store.ts";
import { PostgresFileStore } from "./postgres-files.ts";
import { PostgresObjectOwnerStore } from "./postgres.ts";
import { SqliteFileStore } from "./sqlite-files.ts";
import { SqliteObjectOwnerStore } from "./sqlite.ts";

/** The store of owners for the storage's engine. */
export function openObjectOwnerStore(storage: Storage): ObjectOwnerStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteObjectOwnerStore(storage.handle))
    : new PostgresObjectOwnerStore(storage.statements);
}

/** The store of uploaded files for the storage's engine. */
export function openFileStore(storage: Storage): FileStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteFileStore(storage.handle))
    : new PostgresFileStore(storage.statements);
}
