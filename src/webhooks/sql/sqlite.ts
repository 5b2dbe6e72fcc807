import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { NewSecret, StoredSecrets, WebhookSecretStore } from "../store.ts";
import { type SecretRow, statementsWith, toStoredSecrets } from "./rows.ts";

const SQL = statementsWith((index) => `?${index}`);

/** Webhook secrets on SQLite. */
export class SqliteWebhookSecretStore implements WebhookSecretStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(owner: string): Promise<StoredSecrets | undefined> {
    const row = this.#database.query<SecretRow, [string]>(SQL.find).get(owner);
    return Promise.resolve(row === null ? undefined : toStoredSecrets(row));
  }

  insert({ owner, secret, madeAt }: NewSecret): Promise<boolean> {
    return this.#changes(SQL.insert, [owner, secret, madeAt]);
  }

  rotate({ owner, secret, madeAt }: NewSecret, previousUntil: number): Promise<boolean> {
    return this.#changes(SQL.rotate, [owner, secret, madeAt, previousUntil]);
  }

  #changes(statement: string, parameters: SQLQueryBindings[]): Promise<boolean> {
    return Promise.resolve(this.#database.query<object, SQLQueryBindings[]>(statement).all(...parameters).length > 0);
  }
}
