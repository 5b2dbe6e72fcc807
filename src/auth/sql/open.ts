import { retryLocked, type Storage } from "../../storage/index.ts";
import type { ClientSecretStore } from "../client-secret.ts";
import type { TokenStore } from "../store.ts";
import { PostgresClientSecretStore, SqliteClientSecretStore } from "./client-secrets.ts";
import { PostgresTokenStore } from "./postgres-tokens.ts";
import { SqliteTokenStore } from "./sqlite-tokens.ts";

/** Opens the store of tokens on the storage's engine. */
export function openTokenStore(storage: Storage): TokenStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteTokenStore(storage.handle))
    : new PostgresTokenStore(storage.statements);
}

/** Opens the store of client secrets on the storage's engine. */
export function openClientSecretStore(storage: Storage): ClientSecretStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteClientSecretStore(storage.handle))
    : new PostgresClientSecretStore(storage.statements);
}
