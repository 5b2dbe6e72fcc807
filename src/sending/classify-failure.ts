import type { ReplyHeaders } from "../core/index.ts";
import { type FailureRules, matchesPattern, readFault } from "../providers/index.ts";

/** The meaning of an upstream's error. */
export interface FailureClass {
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** Whether another attempt makes sense only after a delay given by the upstream. */
  needsRetryAfter: boolean;
  /** The consequence for the key that was used. */
  key: "fine" | "refused" | "limited";
  retryAfterMs: number | undefined;
}

/** How an attempt failed; without a class if another one at the same target makes no sense. */
export type AnyFailure = FailureClass | "timed-out" | "abandoned" | "invalid-answer";

/** Statuses that mean "busy": another attempt makes sense only after a given delay. 529 is Anthropic's, 498 Groq's. */
const BUSY = new Set([429, 498, 503, 529]);
const BROKEN = new Set([500, 502]);

/** Without any answer: another attempt may reach the upstream. */
export const unreachableUpstream: FailureClass = {
  retryable: true,
  needsRetryAfter: false,
  key: "fine",
  retryAfterMs: undefined,
};

/** Classifies an error by its status, its headers and the known meaning of the provider's codes. */
export function classifyFailure(
  rules: FailureRules,
  { status, headers, body }: { status: number; headers: ReplyHeaders; body: string },
  now: number,
): FailureClass {
  const fault = readFault(body);
  const retryAfterMs = readRetryAfter(headers, now) ?? fault.retryDelayMs;
  const refused = status === 401 || matchesPattern([...rules.keyRefused, ...rules.quotaGone], status, fault);
  const saidRetryable = matchesPattern(rules.retryable, status, fault);
  return {
    retryable: !refused && (BUSY.has(status) || BROKEN.has(status) || saidRetryable),
    needsRetryAfter: BUSY.has(status) && !saidRetryable,
    key: refused ? "refused" : status === 429 ? "limited" : "fine",
    retryAfterMs,
  };
}

/** `retry-after-ms`, or `retry-after` in seconds or as an HTTP date; in milliseconds from now. */
function readRetryAfter(headers: ReplyHeaders, now: number): number | undefined {
  const milliseconds = headers.get("retry-after-ms");
  if (milliseconds !== null && /^\d+$/.test(milliseconds)) return Number(milliseconds);
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
