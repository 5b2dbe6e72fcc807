import { retryLocked, type Storage } from "../../storage/index.ts";
import type { CatalogStore } from "../operator-catalog/index.ts";
import { PostgresCatalogStore } from "./postgres.ts";
import { SqliteCatalogStore } from "./sqlite.ts";

/** The store of the operator's price catalog for the storage's engine. */
export function openCatalogStore(storage: Storage): CatalogStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteCatalogStore(storage.handle))
    : new PostgresCatalogStore(storage.statements);
}
