import type { GenerationColumns } from "../generations.ts";
import type { HoldRow } from "../rows.ts";

/** The ledger's knowledge of a call whose process died: `<operation> <prefix>/<model>` and how long it was open. */
export function expiredColumns(hold: HoldRow, owner: string, at: number): GenerationColumns {
  const [, operation = "", provider = "", model = ""] = /^(\S*) ?([^/]*)\/?(.*)$/s.exec(hold.purpose) ?? [];
  const startedAt = Number(hold.created_at);
  return {
    owner,
    operation,
    dialect: null,
    provider,
    model,
    streamed: false,
    status: 0,
    outcome: "expired",
    usage: "{}",
    input_tokens: 0,
    output_tokens: 0,
    ms: at - startedAt,
    first_byte_ms: null,
    started_at: startedAt,
    parent: hold.parent,
  };
}
