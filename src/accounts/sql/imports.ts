/** The records of imports from other gateways. */
import { column, firstOf, sql, type Statement, type Steps } from "../../storage/index.ts";
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
