import type { StoredCall } from "../generations.ts";
import type { SqliteHoldRow } from "./statements.ts";

/** The ledger's knowledge of a call whose process died: what its hold was for, and how long it was open. */
export function expiredCall(hold: SqliteHoldRow, owner: string, at: number): StoredCall {
  const { operation, provider, model, dialect, streamed, parent, session } = hold;
  const startedAt = Number(hold.created_at);
  return {
    owner,
    operation,
    dialect: dialect ?? undefined,
    provider,
    model,
    streamed: streamed === 1n,
    status: 0,
    outcome: "expired",
    usage: {},
    milliseconds: at - startedAt,
    millisecondsToFirstByte: undefined,
    startedAt,
    parent: parent ?? undefined,
    session: session ?? undefined,
  };
}
