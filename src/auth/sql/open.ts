import type { Storage } from "../../storage/index.ts";
import type { TokenStore } from "../store.ts";
import { PostgresTokenStore } from "./postgres.ts";
import { SqliteTokenStore } from "./sqlite.ts";

/** Opens the store of tokens on the storage's engine. */
export function openTokenStore(storage: Storage): TokenStore {
  return storage.engine === "sqlite"
    ? new SqliteTokenStore(storage.handle)
    : new PostgresTokenStore(storage.statements);
}
