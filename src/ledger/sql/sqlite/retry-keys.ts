import type { Hold, HoldOutcomes, StoredAnswer } from "../../operations.ts";
import { expiresAt, storedAnswerOf } from "../answers.ts";
import type { HeldAmount } from "./holds.ts";
import type { LedgerStatements } from "./statements.ts";

/** Claims of retry keys by open holds, and the answers that are kept for them. */
export class RetryKeys {
  readonly #sql: LedgerStatements;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** What the hold's key says instead of taking it: undefined where it has none, or one that it may claim. */
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

  /** Keeps the answer of a hold that has ended, or frees its key where there is none. */
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
