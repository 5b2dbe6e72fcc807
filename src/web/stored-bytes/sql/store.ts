import { column, sql, type SqlRunner, tableOf } from "../../../storage/index.ts";
import type { BytesBound, BytesKind, StoredBytes, StoredBytesStore } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 500;

const { text, integer, bytes, oneOf } = column;

const rows = tableOf<StoredBytes>({
  kind: oneOf({ page: true, version: true, scan: true, screenshot: true }),
  id: text,
  owner: text,
  mediaType: text,
  content: bytes,
  storedAt: integer,
  keptUntil: integer,
});

export class SqlStoredBytesStore implements StoredBytesStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  put(stored: StoredBytes): Promise<void> {
    return this.#sql.run(sql`INSERT INTO stored_bytes (${rows.names}, bytes)
      VALUES (${rows.values(stored)}, ${stored.content.byteLength})
      ON CONFLICT (kind, id) DO UPDATE SET media_type = excluded.media_type, content = excluded.content,
        bytes = excluded.bytes, stored_at = excluded.stored_at, kept_until = excluded.kept_until
      WHERE stored_bytes.owner = excluded.owner`);
  }

  find(kind: BytesKind, id: string, at: number): Promise<StoredBytes | undefined> {
    return this.#sql.first(
      sql`SELECT ${rows.names} FROM stored_bytes WHERE kind = ${kind} AND id = ${id} AND kept_until > ${at}`,
      rows.read,
    );
  }

  trim(kind: BytesKind, owner: string, { countMax, bytesMax }: BytesBound): Promise<void> {
    return this.#sql.run(sql`DELETE FROM stored_bytes WHERE (kind, id) IN (
      SELECT kind, id FROM (
        SELECT kind, id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM stored_bytes WHERE kind = ${kind} AND owner = ${owner}
        WINDOW newest AS (ORDER BY stored_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
      ) AS placed WHERE place > ${countMax} OR total > ${bytesMax})`);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#sql.run(sql`DELETE FROM stored_bytes WHERE (kind, id) IN (
      SELECT kind, id FROM stored_bytes WHERE kept_until <= ${at} ORDER BY kept_until LIMIT ${DELETED_MAX})`);
  }
}
