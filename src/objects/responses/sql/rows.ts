import { limits } from "../../../core/index.ts";
import type { StoredResponse } from "../store.ts";

/** Rows deleted at a time. */
const FORGOTTEN_MAX = 1_000;

/** A row of `responses` from either engine. */
export interface ResponseRow {
  id: string;
  owner: string;
  provider: string;
  model: string;
  created_at: bigint;
  kept_until: bigint;
  previous_id: string | null;
  input: string | null;
  response: string | null;
  key_id: string | null;
}

export function toStoredResponse(row: ResponseRow): StoredResponse {
  const { id, owner, provider, model, input, response } = row;
  return {
    id,
    owner,
    provider,
    model,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.kept_until),
    previousId: row.previous_id ?? undefined,
    content: input === null || response === null ? undefined : { input, response },
    keyId: row.key_id ?? undefined,
  };
}

type Value = string | number | null;

/** In the order of the table's columns. */
export function valuesOf(
  stored: StoredResponse,
): [string, string, string, string, number, number, Value, Value, Value, Value] {
  const { id, owner, provider, model, createdAt, expiresAt, previousId, content, keyId } = stored;
  const kept: [Value, Value] = [content?.input ?? null, content?.response ?? null];
  return [id, owner, provider, model, createdAt, expiresAt, previousId ?? null, ...kept, keyId ?? null];
}

/** Of one response's content. */
const BYTES = "CAST(COALESCE(OCTET_LENGTH(r.input), 0) + COALESCE(OCTET_LENGTH(r.response), 0) AS bigint)";

const COLUMNS = "id, owner, provider, model, created_at, kept_until, previous_id, input, response, key_id";

/** The statements, which are equal for both engines except for the names of their parameters. */
export function statementsWith(parameter: (index: number) => string) {
  const [first, second, third] = [parameter(1), parameter(2), parameter(3)];
  const all = Array.from({ length: 10 }, (_, index) => parameter(index + 1)).join(", ");
  return {
    // A repetition after a lost answer has the same effect.
    put: `INSERT INTO responses (${COLUMNS}) VALUES (${all}) ON CONFLICT (id, owner) DO NOTHING`,
    find: `SELECT ${COLUMNS} FROM responses WHERE id = ${first} AND owner = ${second} AND kept_until > ${third}`,
    chain: `
      WITH RECURSIVE chain AS (
        SELECT r.id AS link, r.previous_id AS before, 1 AS round, ${BYTES} AS bytes
        FROM responses r WHERE r.id = ${first} AND r.owner = ${second} AND r.kept_until > ${third}
        UNION ALL
        SELECT r.id, r.previous_id, c.round + 1, c.bytes + ${BYTES}
        FROM chain c JOIN responses r ON r.id = c.before
        WHERE r.owner = ${second} AND r.kept_until > ${third}
          AND c.round < ${limits.expandedRoundsMax} AND c.bytes < ${limits.expandedBytesMax}
      )
      SELECT ${COLUMNS} FROM chain JOIN responses ON id = link AND owner = ${second} ORDER BY round DESC`,
    remove: `DELETE FROM responses WHERE id = ${first} AND owner = ${second} RETURNING id`,
    forget: `DELETE FROM responses WHERE (id, owner) IN (
      SELECT id, owner FROM responses WHERE kept_until <= ${first} ORDER BY kept_until LIMIT ${FORGOTTEN_MAX})`,
  };
}
