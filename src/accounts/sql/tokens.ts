import { tokens, type TokenRecord } from "../../auth/index.ts";
import { firstOf, sql, type Statement, type Steps } from "../../storage/index.ts";

/** The token with this id. */
export function findToken(id: string): Steps<TokenRecord | undefined> {
  return firstOf(sql`SELECT ${tokens.names} FROM tokens WHERE id = ${id}`, tokens.read);
}

/** Writes the variable members of a token, with its next version. */
export function updateToken(token: TokenRecord): Statement {
  const { id, accountId, secretHash, role, name, models, tools, rpm, tpm, concurrency } = token;
  const { expiresAt, revokedAt, pausedAt, previousHash, previousUntil } = token;
  return sql`UPDATE tokens SET account_id = ${accountId}, secret_hash = ${secretHash}, role = ${role}, name = ${name},
      models = ${models?.join(",")}, tools = ${tools?.join(",")}, rpm = ${rpm}, tpm = ${tpm}, concurrency = ${concurrency}, expires_at = ${expiresAt},
      revoked_at = ${revokedAt}, paused_at = ${pausedAt}, previous_hash = ${previousHash},
      previous_until = ${previousUntil}, version = version + 1
    WHERE id = ${id}`;
}
