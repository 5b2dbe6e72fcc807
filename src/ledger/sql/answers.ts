import { limits } from "../../core/index.ts";
import type { StoredAnswer } from "../operations.ts";
import type { TakenKey } from "../store.ts";

/** The columns of `retry_keys` that contain an answer. */
export interface AnswerColumns {
  status: bigint;
  /** JSON: pairs of a name and a value. */
  headers: string;
  body: Uint8Array;
}

export function storedAnswerOf({ status, headers, body }: AnswerColumns): StoredAnswer {
  // Written by the stores themselves.
  return { status: Number(status), headers: JSON.parse(headers) as StoredAnswer["headers"], body };
}

/** The last time at which an answer stored at `at` is replayed, unless it has a time of its own. */
export function expiresAt(at: number): number {
  return at + limits.retryAnswerTtlMs;
}

/** A row of `retry_keys`, with whether the hold that has claimed it is open. */
export type RetryKeyColumns = { [Column in keyof AnswerColumns]: AnswerColumns[Column] | null } & {
  hold_id: string;
  fingerprint: string;
  kept_until: bigint;
  running: boolean | bigint;
};

/** See `LedgerStore.takenKey`. */
export function lookedUp(row: RetryKeyColumns, fingerprint: string, at: number) {
  const taken = takenKeyOf(row, fingerprint, at);
  return taken && { taken, isRunning: Boolean(row.running) };
}

/** A claim lives as long as its hold, an answer until its time is over. */
export function takenKeyOf(row: RetryKeyColumns, fingerprint: string, at: number): TakenKey | undefined {
  const { hold_id: id, status, headers, body } = row;
  const answer = status !== null && headers !== null && body !== null ? { status, headers, body } : undefined;
  if (answer === undefined ? !row.running : Number(row.kept_until) < at) return undefined;
  if (row.fingerprint !== fingerprint) return { outcome: "retry-mismatch" };
  return answer === undefined
    ? { outcome: "retry-running" }
    : { outcome: "replayed", id, answer: storedAnswerOf(answer) };
}
