import { z } from "zod";
import { GatewayError, objectOf, type Role } from "../../core/index.ts";
import {
  column,
  firstOf,
  perEngine,
  runnerOf,
  sql,
  type SqlRow,
  type Statement,
  type Steps,
  type Storage,
  tableOf,
  textsIn,
} from "../../storage/index.ts";
import type { ClientSecretRecord, ClientSecretStore } from "../client-secret.ts";
import type { ImportedKey, ImportedKeyStore } from "../imported-keys.ts";
import { type Principal, toPrincipal } from "../principal.ts";
import { type FoundToken, type Policy, refusalOf, type TokenRecord, type TokenStore } from "../store.ts";

const { text, integer, bytes, flag, json, named, oneOf, optional } = column;

const globs = optional<readonly string[]>({
  read: (value) => (typeof value === "string" ? value.split(",") : undefined),
  write: (list) => list.join(","),
});

export const roleColumn = oneOf<Role>({
  owner: true,
  operator: true,
  billing: true,
  auditor: true,
  organisation_admin: true,
  member: true,
});

const metadata = json({
  parse: (value): Readonly<Record<string, string>> => (objectOf(value) ?? {}) as Readonly<Record<string, string>>,
});

/** The keys of an organisation's tags, which contain no commas. */
export const tagsColumn = globs;

/** The columns of a policy. */
export const policyColumns = {
  models: globs,
  tools: globs,
  rpm: optional(integer),
  tpm: optional(integer),
  concurrency: optional(integer),
  expiresAt: optional(integer),
};

const stored = {
  id: text,
  secretHash: bytes,
  user: named("user_name", text),
  accountId: text,
  service: flag,
  role: optional(roleColumn),
  name: optional(text),
  ...policyColumns,
  revokedAt: optional(integer),
  createdAt: integer,
  pausedAt: optional(integer),
  previousHash: optional(bytes),
  previousUntil: optional(integer),
  madeBy: optional(text),
  metadata: optional(metadata),
  version: integer,
  sessionOf: optional(text),
};

/** The columns of a token; the names in `found` are no others'. */
export const tokens = tableOf<TokenRecord>(stored);

const foundColumns = tableOf<Omit<FoundToken, "above">>({
  ...stored,
  userName: optional(named("holder_name", text)),
  userRole: optional(named("holder_role", roleColumn)),
  userDisabledAt: optional(named("holder_disabled_at", integer)),
  organisation: optional(named("holder_organisation", text)),
  organisationDisabledAt: optional(named("organisation_disabled_at", integer)),
  markup: optional(integer),
  tags: optional(named("organisation_tags", tagsColumn)),
});

/** The columns of the policies above a token, by their names in `TOKENS`. */
const policiesAbove = ["holder", "organisation"].map((prefix) =>
  tableOf<Policy>({
    models: named(`${prefix}_models`, globs),
    tools: named(`${prefix}_tools`, globs),
    rpm: named(`${prefix}_rpm`, optional(integer)),
    tpm: named(`${prefix}_tpm`, optional(integer)),
    concurrency: named(`${prefix}_concurrency`, optional(integer)),
    expiresAt: named(`${prefix}_expires_at`, optional(integer)),
  }),
);

const [ofHolder, ofOrganisation] = policiesAbove.map(({ names }) => names);

const found = {
  names: sql`${foundColumns.names}, ${ofHolder}, ${ofOrganisation}`,
  read: (row: SqlRow): FoundToken => {
    const above = policiesAbove.map(({ read }) => read(row));
    const isLimited = above.some((policy) => Object.values(policy).some((limit) => limit !== undefined));
    return isLimited ? { ...foundColumns.read(row), above } : foundColumns.read(row);
  },
};

const policyOf = (prefix: string): string =>
  ["models", "tools", "rpm", "tpm", "concurrency", "expires_at"]
    .map((name) => `${name} AS ${prefix}_${name}`)
    .join(", ");
const holderPolicy = perEngine({ sqlite: policyOf("holder"), postgres: policyOf("holder") });
const organisationPolicy = perEngine({ sqlite: policyOf("organisation"), postgres: policyOf("organisation") });

// As `projectOf` reads them.
const HOLDER_KIND = sql`CASE WHEN user_name LIKE 'project:%' THEN 'project' ELSE 'user' END`;
const HOLDER_ID = sql`CASE WHEN user_name LIKE 'project:%' THEN substr(user_name, 9) ELSE user_name END`;

/** Tokens with their users or projects, and the organisations of those. Only an organisation has a markup, which a service does not pay. */
const TOKENS = sql`tokens
  LEFT JOIN (SELECT kind AS holder_kind, id AS holder_id, name AS holder_name, role AS holder_role, disabled_at AS holder_disabled_at,
    organisation_id AS holder_organisation, ${holderPolicy} FROM account_holders) u ON holder_kind = ${HOLDER_KIND} AND holder_id = ${HOLDER_ID}
  LEFT JOIN (SELECT id AS organisation_id, disabled_at AS organisation_disabled_at, account_id AS organisation_account,
    tags AS organisation_tags,
    ${organisationPolicy}
    FROM account_holders WHERE kind = 'organisation') o ON organisation_id = holder_organisation
  LEFT JOIN (SELECT id AS markup_account, markup FROM accounts) a ON markup_account = organisation_account AND NOT service`;

/** `admin` is for nodes of an older version. */
export function insertToken(token: TokenRecord): Statement {
  return sql`INSERT INTO tokens (${tokens.names}, admin) VALUES (${tokens.values(token)}, ${token.role === "owner"})`;
}

export function openTokenStore(storage: Storage): TokenStore {
  const runner = runnerOf(storage);
  return {
    insert: (token) => runner.run(insertToken(token)),
    find: (id, hash) =>
      runner.first(
        sql`SELECT ${found.names} FROM ${TOKENS} WHERE id = ${id} AND (secret_hash = ${hash} OR previous_hash = ${hash})`,
        found.read,
      ),
    findById: (id) => runner.first(sql`SELECT ${found.names} FROM ${TOKENS} WHERE id = ${id}`, found.read),
    findAll: (ids) => runner.rows(sql`SELECT ${found.names} FROM ${TOKENS} WHERE id IN (${textsIn(ids)})`, found.read),
    list: () =>
      runner.rows(
        sql`SELECT ${found.names} FROM ${TOKENS} WHERE session_of IS NULL ORDER BY created_at, id`,
        found.read,
      ),
    revoke: (id, at) =>
      runner.hasRows(sql`UPDATE tokens SET revoked_at = coalesce(revoked_at, ${at}), version = version + 1
        WHERE id = ${id} RETURNING id`),
  };
}

/**
 * The caller whose token has this id, within an act; `sourceId`: of a browser's session, the token that it was begun with. Throws the
 * refusal of either.
 */
export function* holderOf(id: string, at: number): Steps<{ principal: Principal; sourceId: string }> {
  const own = yield* usableToken(id, at);
  const { sessionOf } = own;
  if (sessionOf !== undefined) yield* usableToken(sessionOf, at);
  return { principal: toPrincipal(own), sourceId: sessionOf ?? id };
}

function* usableToken(id: string, at: number): Steps<FoundToken> {
  const token = yield* firstOf(sql`SELECT ${found.names} FROM ${TOKENS} WHERE id = ${id}`, found.read);
  if (token === undefined) throw new GatewayError("invalid_token", "The token no longer exists.");
  const refusal = refusalOf(token, at);
  if (refusal !== undefined) throw refusal;
  return token;
}

const grant = json(
  z.object({
    type: z.enum(["realtime", "transcription"]),
    model: z.string(),
    session: z.unknown().transform((value) => objectOf(value) ?? {}),
    signedUntil: z.number().optional(),
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

const importedKeys = tableOf<ImportedKey>({ tokenId: text, secretHash: bytes, validUntil: optional(integer) });

const selectImportedKey = (hash: Uint8Array): Statement =>
  sql`SELECT ${importedKeys.names} FROM imported_keys WHERE hash = ${hash}`;

/** The imported key with this hash, as it is within an act. */
export function findImportedKey(hash: Uint8Array): Steps<ImportedKey | undefined> {
  return firstOf(selectImportedKey(hash), importedKeys.read);
}

export function openImportedKeyStore(storage: Storage): ImportedKeyStore {
  const runner = runnerOf(storage);
  return {
    find: (hash) => runner.first(selectImportedKey(hash), importedKeys.read),
    hasAny: () => runner.hasRows(sql`SELECT token_id FROM imported_keys LIMIT 1`),
  };
}

/** A key that is there already stays that of its token. */
export function insertImportedKey(hash: Uint8Array, key: ImportedKey, at: number): Statement {
  return sql`INSERT INTO imported_keys (hash, ${importedKeys.names}, created_at) VALUES (${hash}, ${importedKeys.values(key)}, ${at})
    ON CONFLICT (hash) DO NOTHING`;
}

/** Sets the end of a key that has none, or a later one. */
export function endImportedKey(hash: Uint8Array, until: number): Statement {
  return sql`UPDATE imported_keys SET valid_until = ${until} WHERE hash = ${hash} AND (valid_until IS NULL OR valid_until > ${until})`;
}
