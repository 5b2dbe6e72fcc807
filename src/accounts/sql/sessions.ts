import { type BrowserSession, browserSessions } from "../../auth/index.ts";
import { firstOf, sql, type Statement, type Steps } from "../../storage/index.ts";

export interface SessionFilter {
  limit: number;
  after?: string | undefined;
  /** Of this user, by their id. */
  user?: string | undefined;
  /** Of the users of this organisation, by its id. */
  organisation?: string | undefined;
  /** Those without a request since then have ended. */
  seenAfter: number;
  at: number;
}

/** Of a row of `browser_sessions`; by the token's id, since the tokens of past sessions stay. */
const HAS_OPEN_TOKEN = sql`EXISTS (SELECT 1 FROM tokens WHERE tokens.id = browser_sessions.token_id AND tokens.revoked_at IS NULL)`;

export function selectSessions({ limit, after = "", user, organisation, seenAfter, at }: SessionFilter): Statement {
  const isOpen = sql`expires_at > ${at} AND seen_at > ${seenAfter} AND ${HAS_OPEN_TOKEN}`;
  if (user !== undefined)
    return sql`SELECT ${browserSessions.names} FROM browser_sessions
      WHERE user_id = ${user} AND id > ${after} AND ${isOpen} ORDER BY id LIMIT ${limit}`;
  if (organisation === undefined)
    return sql`SELECT ${browserSessions.names} FROM browser_sessions WHERE id > ${after} AND ${isOpen} ORDER BY id LIMIT ${limit}`;
  return sql`SELECT ${browserSessions.names} FROM browser_sessions WHERE id > ${after} AND ${isOpen}
    AND user_id IN (SELECT id FROM account_holders WHERE kind = 'user' AND organisation_id = ${organisation})
    ORDER BY id LIMIT ${limit}`;
}

export function findSession(id: string): Steps<BrowserSession | undefined> {
  return firstOf(sql`SELECT ${browserSessions.names} FROM browser_sessions WHERE id = ${id}`, browserSessions.read);
}

/** Ends the token of a session, once. */
export function endTokenOf({ tokenId }: Pick<BrowserSession, "tokenId">, at: number): Statement {
  return sql`UPDATE tokens SET revoked_at = ${at}, version = version + 1 WHERE id = ${tokenId} AND revoked_at IS NULL RETURNING id`;
}

/** The oldest open sessions of a user, beyond so many. */
export function selectOldSessions(user: string, kept: number, at: number): Statement {
  return sql`SELECT ${browserSessions.names} FROM browser_sessions
    WHERE user_id = ${user} AND expires_at > ${at} AND ${HAS_OPEN_TOKEN}
    ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET ${kept}`;
}
