import type { Nano } from "../../../core/index.ts";
import type { GenerationColumns } from "../generations.ts";
import type { HoldRow } from "../rows.ts";
import type { LedgerStatements } from "./statements.ts";

/** The rows that are written of calls, in the commits that end their holds. An entry names its call's row by its number. */
export class Generations {
  readonly #sql: LedgerStatements;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Appends the row of a call; its number. */
  append(id: string, accountId: string, credits: Nano, columns: GenerationColumns): bigint {
    return this.#insert(null, id, accountId, credits, columns);
  }

  /** Writes the call's own record in place of what its expiry wrote. */
  replace(number: bigint | null, id: string, accountId: string, credits: Nano, columns: GenerationColumns): void {
    this.#sql.deleteGeneration.run(number);
    this.#insert(number, id, accountId, credits, columns);
  }

  correctCredits(number: bigint | null, credits: Nano): void {
    this.#sql.correctCredits.run(credits, number);
  }

  /** The user for whom the token of an account was made that has no user above it. */
  userOf(accountId: string): string | undefined {
    return this.#sql.tokenUser.get(accountId)?.user_name;
  }

  #insert(number: bigint | null, id: string, accountId: string, credits: Nano, columns: GenerationColumns): bigint {
    const { owner, operation, dialect, provider, model, streamed, status, outcome, usage } = columns;
    const {
      input_tokens: input,
      output_tokens: output,
      ms,
      first_byte_ms: firstByteMs,
      started_at: startedAt,
    } = columns;
    const { lastInsertRowid } = this.#sql.insertGeneration.run(
      number,
      id,
      accountId,
      credits,
      owner,
      operation,
      dialect,
      provider,
      model,
      streamed ? 1 : 0,
      status,
      outcome,
      usage,
      input,
      output,
      ms,
      firstByteMs,
      startedAt,
    );
    return BigInt(lastInsertRowid);
  }
}

/** What the ledger knows of a call whose process died: `<operation> <prefix>/<model>` and how long it was open. */
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
  };
}
