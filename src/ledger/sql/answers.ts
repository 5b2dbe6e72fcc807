import { limits } from "../../core/index.ts";
import type { StoredAnswer } from "../operations.ts";

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
