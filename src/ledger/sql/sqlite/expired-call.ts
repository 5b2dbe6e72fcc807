import type { GenerationColumns } from "../generations.ts";
import type { SqliteHoldRow } from "./statements.ts";

/** The ledger's knowledge of a call whose process died: what its hold was for, and how long it was open. */
export function expiredColumns(hold: SqliteHoldRow, owner: string, at: number): GenerationColumns {
  const { operation, provider, model, dialect, streamed } = hold;
  const startedAt = Number(hold.created_at);
  return {
    owner,
    operation,
    dialect,
    provider,
    model,
    streamed: streamed === 1n,
    status: 0,
    outcome: "expired",
    usage: "{}",
    input_tokens: 0,
    output_tokens: 0,
    ms: at - startedAt,
    first_byte_ms: null,
    started_at: startedAt,
    list_credits: null,
    parent: hold.parent,
    session: hold.session,
    route: null,
    upstream_request_id: null,
    attempts: null,
    client_request_id: null,
    end_user: null,
    tags: null,
    error_code: null,
  };
}
