import type { Statements } from "../../storage/index.ts";
import type { NewSecret, StoredSecrets, WebhookSecretStore } from "../store.ts";
import { type SecretRow, statementsWith, toStoredSecrets } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`);

/** Webhook secrets on Postgres. */
export class PostgresWebhookSecretStore implements WebhookSecretStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async find(owner: string): Promise<StoredSecrets | undefined> {
    const [row] = await this.#statements.run<SecretRow>(SQL.find, [owner]);
    return row && toStoredSecrets(row);
  }

  async insert({ owner, secret, madeAt }: NewSecret): Promise<boolean> {
    return (await this.#statements.run(SQL.insert, [owner, secret, madeAt])).length > 0;
  }

  async rotate({ owner, secret, madeAt }: NewSecret, previousUntil: number): Promise<boolean> {
    return (await this.#statements.run(SQL.rotate, [owner, secret, madeAt, previousUntil])).length > 0;
  }
}
