import type { KeepAnswer, Outcomes, StoredAnswer } from "../../operations.ts";
import type { ClaimedKey, TakenKey } from "../../store.ts";
import { expiresAt, lookedUp, takenKeyOf } from "../answers.ts";
import type { LedgerStatements } from "./statements.ts";

/** Which row it is. */
type KeyRow = readonly [accountId: string, key: string, holdId: string];

/** Claims of retry keys by open holds, and the stored answers. */
export class RetryKeys {
  readonly #sql: LedgerStatements;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** The outcome of a hold whose key is taken; undefined if the hold may claim it. */
  answer({ retry, accountId, at }: ClaimedKey): TakenKey | undefined {
    const row = this.#sql.retryKey.get(accountId, retry.key);
    return row ? takenKeyOf(row, retry.fingerprint, at) : undefined;
  }

  lookUp({ retry, accountId, at }: ClaimedKey): ReturnType<typeof lookedUp> {
    const row = this.#sql.retryKey.get(accountId, retry.key);
    return row ? lookedUp(row, retry.fingerprint, at) : undefined;
  }

  claim({ accountId, retry, at }: ClaimedKey, id: string): void {
    this.#sql.claimRetryKey.run(accountId, retry.key, retry.fingerprint, id, expiresAt(at));
  }

  /** Stores the answer of a hold that has ended; without one, frees a key that has none. */
  end(row: KeyRow, answer: StoredAnswer | undefined, until: number): void {
    if (answer === undefined) this.#sql.freeRetryKey.run(...row);
    else this.#store(answer, until, row);
  }

  keep({ id, accountId, key, answer, until }: KeepAnswer): Outcomes["keep-answer"] {
    const row = [accountId, key, id] as const;
    const isNew = answer !== undefined && this.#store(answer, until, row).changes > 0;
    const isKept = isNew || this.#sql.keepUntil.run(until, ...row).changes > 0;
    return { outcome: isKept ? "kept" : "no-key" };
  }

  #store({ status, headers, body }: StoredAnswer, until: number, row: KeyRow): { changes: number } {
    return this.#sql.keepAnswer.run(status, JSON.stringify(headers), body, until, ...row);
  }

  forget(at: number): void {
    this.#sql.forgetAnswers.run(at);
  }
}
