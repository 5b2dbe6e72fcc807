/** The records of imports from other gateways. */
import { column, firstOf, sql, type Statement, type Steps, tableOf } from "../../storage/index.ts";
import type { AccountLevel } from "../holder.ts";

/** One thing of another gateway. */
export interface ForeignName {
  /** The gateway: `litellm`. */
  source: string;
  kind: AccountLevel | "budget";
  /** Its own id there; of a key its hash in hex. */
  foreignId: string;
}

/** The id here of something that an earlier import has made. It may have been deleted since. */
export function findImported({ source, kind, foreignId }: ForeignName): Steps<string | undefined> {
  return firstOf(
    sql`SELECT id FROM imports WHERE source = ${source} AND kind = ${kind} AND foreign_id = ${foreignId}`,
    ({ id }) => column.text.read(id),
  );
}

export function insertImported({ source, kind, foreignId }: ForeignName, id: string, at: number): Statement {
  return sql`INSERT INTO imports (source, kind, foreign_id, id, created_at) VALUES (${source}, ${kind}, ${foreignId}, ${id}, ${at})`;
}

/** A key of a token that an import has made. */
interface WorkingKey {
  /** SHA-256 of the whole key. */
  hash: Uint8Array;
  tokenId: string;
  /** The owner of the token. */
  user: string;
}

const keys = tableOf<WorkingKey>({
  hash: column.bytes,
  tokenId: column.text,
  user: column.named("user_name", column.text),
});

/** The keys of a gateway's imports that can be used, with their tokens and the owners of those. */
export function* workingKeys(source: string, at: number): Steps<WorkingKey[]> {
  const rows = yield sql`SELECT k.hash, k.token_id, t.user_name FROM imported_keys k JOIN tokens t ON t.id = k.token_id
    WHERE (k.valid_until IS NULL OR k.valid_until > ${at}) AND t.revoked_at IS NULL AND (k.secret_hash = t.secret_hash OR k.secret_hash = t.previous_hash AND t.previous_until > ${at})
      AND k.token_id IN (SELECT id FROM imports WHERE source = ${source} AND kind = 'token')
    ORDER BY k.hash`;
  return rows.map((row) => keys.read(row));
}
