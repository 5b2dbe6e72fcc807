import type { Nano } from "../../../core/index.ts";
import type { CallRecord } from "../../operations.ts";
import { type GenerationColumns, toGenerationColumns } from "../generations.ts";
import type { HoldRow } from "../rows.ts";
import type { LedgerStatements } from "./statements.ts";

/** The rows that are written of calls, in the commits that end their holds. */
export class Generations {
  readonly #sql: LedgerStatements;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Writes the call's own record, in place of what its expiry wrote. */
  write(id: string, accountId: string, credits: Nano, record: CallRecord): void {
    this.#put(id, accountId, credits, toGenerationColumns(record));
  }

  /** Writes what the ledger knows of a call whose process died: `<operation> <prefix>/<model>` and how long it was open. */
  writeExpired(hold: HoldRow, credits: Nano, owner: string, at: number): void {
    const [, operation = "", provider = "", model = ""] = /^(\S*) ?([^/]*)\/?(.*)$/s.exec(hold.purpose) ?? [];
    const startedAt = Number(hold.created_at);
    this.#put(hold.id, hold.account_id, credits, {
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
    });
  }

  correctCredits(id: string, credits: Nano): void {
    this.#sql.correctCredits.run(credits, id);
  }

  /** The user for whom the token of an account was made that has no user above it. */
  userOf(accountId: string): string | undefined {
    return this.#sql.tokenUser.get(accountId)?.user_name;
  }

  #put(id: string, accountId: string, credits: Nano, columns: GenerationColumns): void {
    const { owner, operation, dialect, provider, model, streamed, status, outcome, usage } = columns;
    const {
      input_tokens: input,
      output_tokens: output,
      ms,
      first_byte_ms: firstByteMs,
      started_at: startedAt,
    } = columns;
    this.#sql.putGeneration.run(
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
  }
}
