import { column, runnerOf, sql, type SqlRunner, type Steps, type Storage, tableOf } from "../../storage/index.ts";
import type { NewSecret, StoredSecrets, WebhookSecretStore } from "../store.ts";

const { text, integer, optional } = column;

const secrets = tableOf({
  secret: text,
  previousSecret: optional(text),
  previousUntil: optional(integer),
  madeAt: integer,
});

class SqlWebhookSecretStore implements WebhookSecretStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  async find(owner: string): Promise<StoredSecrets | undefined> {
    const row = await this.#sql.first(
      sql`SELECT ${secrets.names} FROM webhook_secrets WHERE owner = ${owner}`,
      secrets.read,
    );
    if (row === undefined) return undefined;
    const { secret, previousSecret, previousUntil: until, madeAt } = row;
    const hasPrevious = previousSecret !== undefined && until !== undefined;
    return { secret, previous: hasPrevious ? { secret: previousSecret, until } : undefined, madeAt };
  }

  *insert({ owner, secret, madeAt }: NewSecret): Steps<boolean> {
    const rows = yield sql`INSERT INTO webhook_secrets (owner, secret, made_at)
      VALUES (${owner}, ${secret}, ${madeAt}) ON CONFLICT (owner) DO NOTHING RETURNING owner`;
    return rows.length > 0;
  }

  *rotate(
    { owner, secret, madeAt }: NewSecret,
    { previousUntil, notAfter }: { previousUntil: number; notAfter: number },
  ): Steps<boolean> {
    const rows = yield sql`UPDATE webhook_secrets
      SET previous_secret = secret, previous_until = ${previousUntil}, secret = ${secret}, made_at = ${madeAt}
      WHERE owner = ${owner} AND (previous_until IS NULL OR made_at <= ${notAfter}) RETURNING owner`;
    return rows.length > 0;
  }
}

export function openWebhookSecretStore(storage: Storage): WebhookSecretStore {
  return new SqlWebhookSecretStore(runnerOf(storage));
}
