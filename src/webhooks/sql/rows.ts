import type { StoredSecrets } from "../store.ts";

/** A row of `webhook_secrets` from either engine. */
export interface SecretRow {
  secret: string;
  previous_secret: string | null;
  previous_until: bigint | null;
  made_at: bigint;
}

export function toStoredSecrets(row: SecretRow): StoredSecrets {
  const { secret, previous_secret: previous, previous_until: until, made_at: madeAt } = row;
  return {
    secret,
    previous: previous === null || until === null ? undefined : { secret: previous, until: Number(until) },
    madeAt: Number(madeAt),
  };
}

/** The statements; the engines differ in the names of parameters. */
export function statementsWith(parameter: (index: number) => string) {
  const [owner, secret, madeAt, previousUntil] = [1, 2, 3, 4].map(parameter);
  return {
    find: `SELECT secret, previous_secret, previous_until, made_at FROM webhook_secrets WHERE owner = ${owner}`,
    insert: `INSERT INTO webhook_secrets (owner, secret, made_at) VALUES (${owner}, ${secret}, ${madeAt})
      ON CONFLICT (owner) DO NOTHING RETURNING owner`,
    rotate: `UPDATE webhook_secrets
      SET previous_secret = secret, previous_until = ${previousUntil}, secret = ${secret}, made_at = ${madeAt}
      WHERE owner = ${owner} RETURNING owner`,
  };
}
