import type { Hold, HoldOutcomes, KeepAnswer, Outcomes, StoredAnswer } from "../../operations.ts";
import { expiresAt, storedAnswerOf } from "../answers.ts";
import type { HeldAmount } from "./holds.ts";
import type { LedgerStatements } from "./statements.ts";

/** Claims of retry keys by open holds, and the stored answers. */
export class RetryKeys {
  readonly #sql: LedgerStatements;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** The outcome of a hold whose key is taken; undefined if the hold has no key, or may claim it. */
  answer({ retry, accountId, at }: Hold): HoldOutcomes["replayed" | "retry"] | undefined {
    if (retry === undefined) return undefined;
    const row = this.#sql.retryKey.get(accountId, retry.key);
    if (row === null) return undefined;
    const { hold_id: id, status, headers, body } = row;
    const answer = status !== null && headers !== null && body !== null ? { status, headers, body } : undefined;
    const counts = answer === undefined ? row.running === 1n : Number(row.kept_until) >= at;
    if (!counts) return undefined;
    if (row.fingerprint !== retry.fingerprint) return { outcome: "retry-mismatch" };
    return answer === undefined
      ? { outcome: "retry-running" }
      : { outcome: "replayed", id, answer: storedAnswerOf(answer) };
  }

  claim({ id, accountId, retry, at }: Hold): void {
    if (retry !== undefined) {
      this.#sql.claimRetryKey.run(accountId, retry.key, retry.fingerprint, id, expiresAt(at));
    }
  }

  /** Stores the answer of a hold that has ended; without one, frees a key that has none. */
  end({ id, accountId, retryKey: key }: HeldAmount, answer: StoredAnswer | undefined, until: number): void {
    if (key === null) return;
    if (answer === undefined) this.#sql.freeRetryKey.run(accountId, key, id);
    else this.#store(answer, until, [accountId, key, id]);
  }

  keep({ id, accountId, key, answer, until }: KeepAnswer): Outcomes["keep-answer"] {
    const row = [accountId, key, id] as const;
    const isNew = answer !== undefined && this.#store(answer, until, row).changes > 0;
    const isKept = isNew || this.#sql.keepUntil.run(until, ...row).changes > 0;
    return { outcome: isKept ? "kept" : "no-key" };
  }

  #store(
    { status, headers, body }: StoredAnswer,
    until: number,
    row: readonly [accountId: string, key: string, holdId: string],
  ): { changes: number } {
    return this.#sql.keepAnswer.run(status, JSON.stringify(headers), body, until, ...row);
  }

  forget(at: number): void {
    this.#sql.forgetAnswers.run(at);
  }
}
