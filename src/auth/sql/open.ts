import { z } from "zod";
import { objectOf } from "../../core/index.ts";
import { column, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { ClientSecretRecord, ClientSecretStore } from "../client-secret.ts";
import type { TokenRecord, TokenStore } from "../store.ts";

const { text, integer, bytes, flag, json, named, optional } = column;

const tokens = tableOf<TokenRecord>({
  id: text,
  secretHash: bytes,
  user: named("user_name", text),
  accountId: text,
  service: flag,
  admin: flag,
  models: optional<readonly string[]>({
    read: (value) => (typeof value === "string" ? value.split(",") : undefined),
    write: (models) => models.join(","),
  }),
  rpm: optional(integer),
  tpm: optional(integer),
  concurrency: optional(integer),
  expiresAt: optional(integer),
  revokedAt: optional(integer),
  createdAt: integer,
});

export function openTokenStore(storage: Storage): TokenStore {
  const runner = runnerOf(storage);
  return {
    insert: (token) => runner.run(sql`INSERT INTO tokens (${tokens.names}) VALUES (${tokens.values(token)})`),
    find: (id, secretHash) =>
      runner.first(
        sql`SELECT ${tokens.names} FROM tokens WHERE id = ${id} AND secret_hash = ${secretHash}`,
        tokens.read,
      ),
    findById: (id) => runner.first(sql`SELECT ${tokens.names} FROM tokens WHERE id = ${id}`, tokens.read),
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
