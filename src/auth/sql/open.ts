import { z } from "zod";
import { objectOf } from "../../core/index.ts";
import { column, runnerOf, sql, type SqlRow, type Storage, tableOf, textsIn } from "../../storage/index.ts";
import type { ClientSecretRecord, ClientSecretStore } from "../client-secret.ts";
import type { TokenRecord, TokenStore } from "../store.ts";

const { text, integer, bytes, flag, json, named, optional } = column;

const globs = optional<readonly string[]>({
  read: (value) => (typeof value === "string" ? value.split(",") : undefined),
  write: (list) => list.join(","),
});

const tokens = tableOf<Omit<TokenRecord, "markup">>({
  id: text,
  secretHash: bytes,
  user: named("user_name", text),
  accountId: text,
  service: flag,
  admin: flag,
  models: globs,
  tools: globs,
  rpm: optional(integer),
  tpm: optional(integer),
  concurrency: optional(integer),
  expiresAt: optional(integer),
  revokedAt: optional(integer),
  createdAt: integer,
});

/** Only an organisation has a markup: the account above the user's. */
const markup = sql`(SELECT o.markup FROM accounts a JOIN accounts u ON u.id = a.parent_id JOIN accounts o ON o.id = u.parent_id
  WHERE a.id = tokens.account_id) AS markup`;

function readToken(row: SqlRow): TokenRecord {
  const { markup: millionths } = row;
  return { ...tokens.read(row), ...(typeof millionths === "bigint" && { markup: Number(millionths) }) };
}

export function openTokenStore(storage: Storage): TokenStore {
  const runner = runnerOf(storage);
  return {
    insert: (token) => runner.run(sql`INSERT INTO tokens (${tokens.names}) VALUES (${tokens.values(token)})`),
    find: (id, secretHash) =>
      runner.first(
        sql`SELECT ${tokens.names}, ${markup} FROM tokens WHERE id = ${id} AND secret_hash = ${secretHash}`,
        readToken,
      ),
    findById: (id) => runner.first(sql`SELECT ${tokens.names}, ${markup} FROM tokens WHERE id = ${id}`, readToken),
    findAll: (ids) => runner.rows(sql`SELECT ${tokens.names} FROM tokens WHERE id IN (${textsIn(ids)})`, tokens.read),
    list: () => runner.rows(sql`SELECT ${tokens.names} FROM tokens ORDER BY created_at, id`, tokens.read),
    revoke: (id, at) =>
      runner.hasRows(sql`UPDATE tokens SET revoked_at = coalesce(revoked_at, ${at}) WHERE id = ${id} RETURNING id`),
  };
}

const grant = json(
  z.object({
    type: z.enum(["realtime", "transcription"]),
    model: z.string(),
    session: z.unknown().transform((value) => objectOf(value) ?? {}),
  }),
);

const secrets = tableOf<ClientSecretRecord>({
  id: text,
  secretHash: bytes,
  tokenId: text,
  grant: named("session", grant),
  createdAt: integer,
  expiresAt: integer,
});

export function openClientSecretStore(storage: Storage): ClientSecretStore {
  const runner = runnerOf(storage);
  return {
    insert: (secret) =>
      runner.run(sql`INSERT INTO client_secrets (${secrets.names}) VALUES (${secrets.values(secret)})`),
    find: (id, secretHash) =>
      runner.first(
        sql`SELECT ${secrets.names} FROM client_secrets WHERE id = ${id} AND secret_hash = ${secretHash}`,
        secrets.read,
      ),
    deleteExpired: (at) => runner.run(sql`DELETE FROM client_secrets WHERE expires_at < ${at}`),
  };
}
