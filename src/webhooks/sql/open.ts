import { retryLocked, type Storage } from "../../storage/index.ts";
import type { WebhookSecretStore } from "../store.ts";
import { PostgresWebhookSecretStore } from "./postgres.ts";
import { SqliteWebhookSecretStore } from "./sqlite.ts";

/** The store of webhook secrets for the storage's engine. */
export function openWebhookSecretStore(storage: Storage): WebhookSecretStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteWebhookSecretStore(storage.handle))
    : new PostgresWebhookSecretStore(storage.statements);
}
