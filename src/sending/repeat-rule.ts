/**
 * After which failures a request may be sent once more, be it to the same target or to another one. A failure with a
 * status comes before the work: nothing was made, and nothing is billed. After silence, a cut or an invalid answer the
 * upstream may have done the work, and bills it.
 */
import { failureTraits, type Operation } from "../core/index.ts";
import type { AnyFailure } from "./classify-failure.ts";

/**
 * - `freely`: doing it twice costs little, so that a broken connection is worth another attempt.
 * - `unless-done`: only while nothing can have been made: before the request was written, or after a failure with a
 *   status.
 * - `unless-accepted`: only before the request was written, or after a refusal that comes before all work. A job may
 *   exist after any other failure of its creation, and nobody can find it again.
 */
export type RepeatRule = "freely" | "unless-done" | "unless-accepted";

/** By what the work is. */
export const repeatRules: Readonly<Record<Operation, RepeatRule>> = {
  chat: "freely",
  messages: "freely",
  responses: "freely",
  gemini: "freely",
  count_tokens: "freely",
  count_response_tokens: "freely",
  count_gemini_tokens: "freely",
  completion: "freely",
  embeddings: "freely",
  moderation: "freely",
  rerank: "freely",
  image_generation: "unless-done",
  image_edit: "unless-done",
  speech: "unless-done",
  transcription: "unless-done",
  translation: "unless-done",
  // The handshake of a session makes nothing.
  realtime: "freely",
  realtime_transcription: "freely",
  video_generation: "unless-accepted",
  video_edit: "unless-accepted",
  video_extension: "unless-accepted",
  // Reads.
  scrape: "freely",
  map: "freely",
  crawl: "freely",
  search: "freely",
  // A tool may do anything.
  tool: "unless-accepted",
};

/** A failed attempt. */
export interface FailedAttempt {
  failure: AnyFailure;
  /** The upstream's status; undefined without an answer. */
  status: number | undefined;
  /** Whether the request, or a part of it, was written to the upstream. */
  isSent: boolean;
}

/** Refusals of a request that has not begun. */
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** Whether the failure permits another attempt at all; whether that makes sense is up to its class. */
export function mayRepeat(rule: RepeatRule, { failure, status, isSent }: FailedAttempt): boolean {
  if (failure === "abandoned") return false;
  if (rule === "freely") return true;
  if (status === undefined) return !isSent;
  const isKeys = failureTraits[failure.name].key === "refused";
  return rule === "unless-done" || status === TOO_MANY_REQUESTS || status === UNAVAILABLE || isKeys;
}
