import type { Hold, HoldOutcomes, StoredAnswer } from "../../operations.ts";
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

  /** Stores the answer of a hold that has ended, or frees its key without one. */
  end({ id, accountId, retryKey: key }: HeldAmount, answer: StoredAnswer | undefined, at: number): void {
    if (key === null) return;
    if (answer === undefined) {
      this.#sql.freeRetryKey.run(accountId, key, id);
      return;
    }
    const { status, headers, body } = answer;
    this.#sql.keepAnswer.run(status, JSON.stringify(headers), body, expiresAt(at), accountId, key, id);
  }

  forget(at: number): void {
    this.#sql.forgetAnswers.run(at);
  }
}
