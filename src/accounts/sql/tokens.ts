import { tokens, type TokenRecord } from "../../auth/index.ts";
import { firstOf, sql, type Statement, type Steps } from "../../storage/index.ts";
import { ownersOf } from "./holders.ts";

/** The token with this id. */
export function findToken(id: string): Steps<TokenRecord | undefined> {
  return firstOf(sql`SELECT ${tokens.names} FROM tokens WHERE id = ${id}`, tokens.read);
}

/** Writes the variable members of a token, with its next version. */
export function updateToken(token: TokenRecord): Statement {
  const { id, accountId, secretHash, role, name, models, tools, rpm, tpm, concurrency } = token;
  const { expiresAt, revokedAt, pausedAt, previousHash, previousUntil, metadata } = token;
  return sql`UPDATE tokens SET account_id = ${accountId}, secret_hash = ${secretHash}, role = ${role}, name = ${name},
      models = ${models?.join(",")}, tools = ${tools?.join(",")}, rpm = ${rpm}, tpm = ${tpm}, concurrency = ${concurrency}, expires_at = ${expiresAt},
      revoked_at = ${revokedAt}, paused_at = ${pausedAt}, previous_hash = ${previousHash},
      previous_until = ${previousUntil}, metadata = ${metadata && JSON.stringify(metadata)}, version = version + 1
    WHERE id = ${id}`;
}

/** The tokens of a user or project that can be used, without those that stand for callers of issuers and for sessions of browsers. */
export function* countTokens(owner: string, at: number): Steps<number> {
  const usable =
    yield sql`SELECT id FROM tokens WHERE user_name = ${owner} AND revoked_at IS NULL AND session_of IS NULL
    AND (expires_at IS NULL OR expires_at > ${at}) AND id NOT IN (SELECT token_id FROM identities
      WHERE user_id = ${owner} AND token_id IS NOT NULL)`;
  return usable.length;
}

export function revokeTokensOf(owner: string, at: number): Statement {
  return sql`UPDATE tokens SET revoked_at = ${at}, version = version + 1 WHERE user_name = ${owner} AND revoked_at IS NULL`;
}

/** Ends the browsers' sessions of a user. Their tokens end with them. */
export function endSessionsOf(user: string, at: number): Statement {
  return sql`UPDATE tokens SET revoked_at = ${at}, version = version + 1
    WHERE user_name = ${user} AND session_of IS NOT NULL AND revoked_at IS NULL`;
}

/** Ends the browsers' sessions that were begun with a token. */
export function endSessionsBegunWith(tokenId: string, at: number): Statement {
  return sql`UPDATE tokens SET revoked_at = ${at}, version = version + 1 WHERE session_of = ${tokenId} AND revoked_at IS NULL`;
}

/** The tokens of a user or project whose accounts are below that one's. */
export function* movableTokens(owner: string): Steps<TokenRecord[]> {
  const rows = yield sql`SELECT ${tokens.names} FROM tokens
    WHERE user_name = ${owner} AND revoked_at IS NULL AND session_of IS NULL AND NOT service ORDER BY id`;
  return rows.map((row) => tokens.read(row));
}

/** Whether a user has a token that is neither revoked nor expired. */
export function* hasUsableToken(user: string, at: number): Steps<boolean> {
  const usable = yield sql`SELECT id FROM tokens
    WHERE user_name = ${user} AND revoked_at IS NULL AND session_of IS NULL
      AND (expires_at IS NULL OR expires_at > ${at}) LIMIT 1`;
  return usable.length > 0;
}

/** The oldest token of an owner that has all their rights, has no end and can be used. */
export function findOwnersToken(): Steps<TokenRecord | undefined> {
  return firstOf(
    sql`SELECT ${tokens.names} FROM tokens WHERE session_of IS NULL AND NOT service AND revoked_at IS NULL
        AND paused_at IS NULL AND expires_at IS NULL AND (role IS NULL OR role = 'owner') AND user_name IN
          (SELECT id FROM account_holders WHERE kind = 'user' AND role = 'owner' AND disabled_at IS NULL AND deleted_at IS NULL)
      ORDER BY created_at, id LIMIT 1`,
    tokens.read,
  );
}

export interface TokenFilter {
  limit: number;
  after?: string | undefined;
  /** Of this owner of records: a user or a project. */
  owner?: string | undefined;
  /** Of the holders of this organisation, by its id. */
  organisation?: string | undefined;
  /** Of this owner and, if it is a user, of their projects. */
  within?: string | undefined;
}

/** Tokens by id: of one owner, of those in reach, or all; none that stand for browsers' sessions. */
export function selectTokens({ limit, after = "", owner, organisation, within }: TokenFilter): Statement {
  if (within !== undefined)
    return sql`SELECT ${tokens.names} FROM tokens WHERE id > ${after} AND session_of IS NULL
      AND user_name IN (SELECT CAST(${within} AS text) UNION ALL
        SELECT 'project:' || project_id FROM project_members WHERE user_id = ${within})
      ORDER BY id LIMIT ${limit}`;
  if (owner !== undefined)
    return sql`SELECT ${tokens.names} FROM tokens WHERE user_name = ${owner} AND id > ${after}
      AND session_of IS NULL ORDER BY id LIMIT ${limit}`;
  if (organisation === undefined)
    return sql`SELECT ${tokens.names} FROM tokens WHERE id > ${after} AND session_of IS NULL ORDER BY id LIMIT ${limit}`;
  return sql`SELECT ${tokens.names} FROM tokens WHERE id > ${after} AND session_of IS NULL
    AND user_name IN (${ownersOf(organisation)}) ORDER BY id LIMIT ${limit}`;
}
