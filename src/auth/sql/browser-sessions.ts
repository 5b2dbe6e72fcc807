import { column, runnerOf, sql, type Statement, type Storage, tableOf } from "../../storage/index.ts";
import type { BrowserSession, BrowserSessionStore } from "../sessions/browser-session.ts";
import { roleColumn } from "./open.ts";

const { text, integer, bytes, optional } = column;

export const browserSessions = tableOf<BrowserSession>({
  id: text,
  secretHash: bytes,
  tokenId: text,
  userId: text,
  sourceId: text,
  sourceHash: optional(bytes),
  issuer: optional(text),
  role: optional(roleColumn),
  signedUntil: optional(integer),
  provedAt: optional(integer),
  address: optional(text),
  agent: optional(text),
  createdAt: integer,
  seenAt: integer,
  expiresAt: integer,
});

export function insertBrowserSession(session: BrowserSession): Statement {
  return sql`INSERT INTO browser_sessions (${browserSessions.names}) VALUES (${browserSessions.values(session)})`;
}

/** Sessions that may have been begun with an imported key end with it: those of its token, whose own secret nobody has. */
export function endSessionsOfKey(hash: Uint8Array, until: number): Statement {
  return sql`UPDATE browser_sessions SET expires_at = ${until} WHERE expires_at > ${until} AND source_hash =
    (SELECT secret_hash FROM imported_keys WHERE hash = ${hash} AND token_id = browser_sessions.source_id)`;
}

/** Rows that are deleted at a time. */
const DELETED_MAX = 500;

export function openBrowserSessionStore(storage: Storage): BrowserSessionStore {
  const runner = runnerOf(storage);
  return {
    find: (id, secretHash) =>
      runner.first(
        sql`SELECT ${browserSessions.names} FROM browser_sessions WHERE id = ${id} AND secret_hash = ${secretHash}`,
        browserSessions.read,
      ),
    see: (id, at) => runner.run(sql`UPDATE browser_sessions SET seen_at = ${at} WHERE id = ${id} AND seen_at < ${at}`),
    async deleteEnded(before) {
      await runner.run(sql`DELETE FROM browser_sessions WHERE id IN
        (SELECT id FROM browser_sessions WHERE expires_at < ${before} LIMIT ${DELETED_MAX})`);
      await runner.run(sql`DELETE FROM sign_in_codes WHERE expires_at < ${before}`);
    },
  };
}

/** A code that signs in once. */
interface SignInCode {
  /** The token that the session begins with. */
  tokenId: string;
  expiresAt: number;
}

export const signInCodes = tableOf<SignInCode>({ tokenId: text, expiresAt: integer });

export function insertSignInCode(hash: Uint8Array, code: SignInCode): Statement {
  return sql`INSERT INTO sign_in_codes (hash, ${signInCodes.names}) VALUES (${hash}, ${signInCodes.values(code)})`;
}

/** Of two requests with one code, one gets the row. */
export function deleteSignInCode(hash: Uint8Array): Statement {
  return sql`DELETE FROM sign_in_codes WHERE hash = ${hash} RETURNING ${signInCodes.names}`;
}
