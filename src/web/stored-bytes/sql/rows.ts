import type { BytesKind, StoredBytes } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 500;

/** A row of `stored_bytes` from either engine. */
export interface BytesRow {
  kind: BytesKind;
  id: string;
  owner: string;
  media_type: string;
  content: Uint8Array;
  stored_at: bigint;
  kept_until: bigint;
}

export function toStoredBytes(row: BytesRow): StoredBytes {
  const { kind, id, owner, media_type: mediaType, content } = row;
  return { kind, id, owner, mediaType, content, storedAt: Number(row.stored_at), keptUntil: Number(row.kept_until) };
}

export function valuesOf(bytes: StoredBytes): [string, string, string, string, Uint8Array, number, number, number] {
  const { kind, id, owner, mediaType, content, storedAt, keptUntil } = bytes;
  return [kind, id, owner, mediaType, content, content.byteLength, storedAt, keptUntil];
}

/** The statements; the engines differ in the names of parameters. */
export function statementsWith(parameter: (index: number) => string) {
  const all = [1, 2, 3, 4, 5, 6, 7, 8].map(parameter);
  const [p1, p2, p3, p4] = all;
  return {
    put: `INSERT INTO stored_bytes (kind, id, owner, media_type, content, bytes, stored_at, kept_until)
      VALUES (${all.join(", ")})
      ON CONFLICT (kind, id) DO UPDATE SET media_type = excluded.media_type, content = excluded.content,
        bytes = excluded.bytes, stored_at = excluded.stored_at, kept_until = excluded.kept_until
      WHERE stored_bytes.owner = excluded.owner`,
    find: `SELECT kind, id, owner, media_type, content, stored_at, kept_until FROM stored_bytes
      WHERE kind = ${p1} AND id = ${p2} AND kept_until > ${p3}`,
    trim: `DELETE FROM stored_bytes WHERE (kind, id) IN (
      SELECT kind, id FROM (
        SELECT kind, id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM stored_bytes WHERE kind = ${p1} AND owner = ${p2}
        WINDOW newest AS (ORDER BY stored_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
      ) AS placed WHERE place > ${p3} OR total > ${p4})`,
    deleteExpired: `DELETE FROM stored_bytes WHERE (kind, id) IN (
      SELECT kind, id FROM stored_bytes WHERE kept_until <= ${p1} ORDER BY kept_until LIMIT ${DELETED_MAX})`,
  };
}
