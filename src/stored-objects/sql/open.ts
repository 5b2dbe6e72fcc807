import type { Storage } from "../../storage/index.ts";
import type { ObjectOwnerStore } from "../store.ts";
import { PostgresObjectOwnerStore } from "./postgres.ts";
import { SqliteObjectOwnerStore } from "./sqlite.ts";

/** The store of owners for the storage's engine. */
export function openObjectOwnerStore(storage: Storage): ObjectOwnerStore {
  return storage.engine === "sqlite"
    ? new SqliteObjectOwnerStore(storage.handle)
    : new PostgresObjectOwnerStore(storage.statements);
}
