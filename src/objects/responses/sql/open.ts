import { limits } from "../../../core/index.ts";
import { column, runnerOf, sql, type SqlRunner, type Storage, tableOf } from "../../../storage/index.ts";
import type { ResponseStore, StoredResponse } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 1_000;

const { text, integer, named, optional } = column;

const responses = tableOf({
  id: text,
  owner: text,
  provider: text,
  model: text,
  createdAt: integer,
  expiresAt: named("kept_until", integer),
  previousId: optional(text),
  input: optional(text),
  response: optional(text),
  keyId: optional(text),
});

type ResponseRow = ReturnType<typeof responses.read>;

function toStoredResponse({ input, response, ...rest }: ResponseRow): StoredResponse {
  return { ...rest, content: input === undefined || response === undefined ? undefined : { input, response } };
}

/** Of one response's content. */
const BYTES = sql`CAST(COALESCE(OCTET_LENGTH(r.input), 0) + COALESCE(OCTET_LENGTH(r.response), 0) AS bigint)`;

class SqlResponseStore implements ResponseStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  /** A repetition after a lost answer has the same effect. */
  put({ content, ...stored }: StoredResponse): Promise<void> {
    const row: ResponseRow = { ...stored, input: content?.input, response: content?.response };
    return this.#sql.run(sql`INSERT INTO responses (${responses.names}) VALUES (${responses.values(row)})
      ON CONFLICT (id, owner) DO NOTHING`);
  }

  find(id: string, owner: string, at: number): Promise<StoredResponse | undefined> {
    return this.#sql.first(
      sql`SELECT ${responses.names} FROM responses WHERE id = ${id} AND owner = ${owner} AND kept_until > ${at}`,
      (row) => toStoredResponse(responses.read(row)),
    );
  }

  chain(id: string, owner: string, at: number): Promise<StoredResponse[]> {
    return this.#sql.rows(
      sql`WITH RECURSIVE chain AS (
        SELECT r.id AS link, r.previous_id AS before, 1 AS round, ${BYTES} AS bytes
        FROM responses r WHERE r.id = ${id} AND r.owner = ${owner} AND r.kept_until > ${at}
        UNION ALL
        SELECT r.id, r.previous_id, c.round + 1, c.bytes + ${BYTES}
        FROM chain c JOIN responses r ON r.id = c.before
        WHERE r.owner = ${owner} AND r.kept_until > ${at}
          AND c.round < ${limits.expandedRoundsMax} AND c.bytes < ${limits.expandedBytesMax}
      )
      SELECT ${responses.names} FROM chain JOIN responses ON id = link AND owner = ${owner} ORDER BY round DESC`,
      (row) => toStoredResponse(responses.read(row)),
    );
  }

  remove(id: string, owner: string): Promise<boolean> {
    return this.#sql.hasRows(sql`DELETE FROM responses WHERE id = ${id} AND owner = ${owner} RETURNING id`);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#sql.run(sql`DELETE FROM responses WHERE (id, owner) IN (
      SELECT id, owner FROM responses WHERE kept_until <= ${at} ORDER BY kept_until LIMIT ${DELETED_MAX})`);
  }
}

export function openResponseStore(storage: Storage): ResponseStore {
  return new SqlResponseStore(runnerOf(storage));
}
