import { type FailureName, failureTraits, type ReplyHeaders } from "../core/index.ts";
import type { CircuitOutcome } from "../routing/index.ts";
import type { Failure, FailureKind } from "../dialects/index.ts";
import { type FailureRules, matchesPattern, readFault } from "../providers/index.ts";

/** The meaning of a failed attempt. */
export interface FailureClass {
  name: FailureName;
  /** Whether the same call may succeed later at the same target. */
  retryable: boolean;
  /** Whether another attempt makes sense only after a delay given by the upstream. */
  needsRetryAfter: boolean;
  retryAfterMs: number | undefined;
  /** The codes and types in the upstream's error; absent without any. */
  codes?: readonly string[];
}

/** How an attempt failed; `abandoned` if its client left or the gateway stopped. */
export type AnyFailure = FailureClass | "abandoned";

/** The meaning of a failure for the circuit of its target. */
export function circuitOutcomeOf(failure: AnyFailure): CircuitOutcome {
  if (failure === "abandoned" || failure === staleConnection || !failureTraits[failure.name].isUnavailable)
    return "none";
  return { retryAfterMs: failure.retryAfterMs };
}

/** Statuses that mean "busy": another attempt makes sense only after a given delay. 529 is Anthropic's, 498 Groq's. */
const BUSY = new Set([498, 503, 529]);
const TOO_MANY_REQUESTS = 429;
/** Other failures of a server may mean that it is still at work. */
const BROKEN = new Set([500, 502]);

/** A failure without a status. */
function unanswered(name: FailureName, retryable: boolean): FailureClass {
  return { name, retryable, needsRetryAfter: false, retryAfterMs: undefined };
}

/** Without any answer: another attempt may reach the upstream. */
export const unreachableUpstream = unanswered("unreachable", true);

/** The same, of a connection that had been idle: see `StaleConnection`. */
export const staleConnection = unanswered("unreachable", true);

/** The gateway has stopped waiting for the head: asked again, the upstream would take as long. */
export const silentUpstream = unanswered("no_head", false);

/** No valid HTTP: the upstream may have performed the request. */
export const invalidAnswer = unanswered("broken", false);

/** No key of the provider may be used: each has been refused time and again. */
export const refusedByAll = unanswered("key_refused", false);

/** Classifies an error by its status, its headers and the known meaning of the provider's codes. */
export function classifyFailure(
  rules: FailureRules,
  { status, headers, body }: { status: number; headers: ReplyHeaders; body: string },
  now: number,
): FailureClass {
  const fault = readFault(body);
  const saysRetryable = matchesPattern(rules.retryable, status, fault);
  const name = nameOf(rules, { status, fault, saysRetryable });
  const isBusy = BUSY.has(status) || status === TOO_MANY_REQUESTS;
  return {
    name,
    retryable: failureTraits[name].repeats && (isBusy || BROKEN.has(status) || saysRetryable),
    needsRetryAfter: isBusy && !saysRetryable,
    retryAfterMs: readRetryAfter(headers, now) ?? fault.retryDelayMs,
    codes: codesOf(fault.codes),
  };
}

const CODES_MAX = 4;

/** Words and numbers only: some upstreams write the caller's own text in their place. */
const CODE = /^(?:[a-z][a-z_.]{0,63}|\d{1,6})$/i;

function codesOf(codes: readonly string[]): string[] {
  return [...new Set(codes)].filter((code) => CODE.test(code)).slice(0, CODES_MAX);
}

/** The status that an error within an answer would have had before it. */
const statuses: Readonly<Record<FailureKind, number>> = {
  "invalid-request": 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  "not-found": 404,
  conflict: 409,
  "too-large": 413,
  "rate-limit": 429,
  timeout: 504,
  overloaded: 503,
  server: 500,
};

/** Classifies an error that came with a status of success: within a stream, or as a whole answer. */
export function classifyAnswer(rules: FailureRules, { kind, code, type, message }: Failure): FailureClass {
  const body = JSON.stringify({ error: { code, type, message } });
  return classifyFailure(rules, { status: statuses[kind], headers: new Headers(), body }, 0);
}

interface ReadFailure {
  status: number;
  fault: ReturnType<typeof readFault>;
  saysRetryable: boolean;
}

/** The provider's own words count before the common meaning of a status. */
function nameOf(rules: FailureRules, { status, fault, saysRetryable }: ReadFailure): FailureName {
  if (status === 401 || matchesPattern(rules.keyRefused, status, fault)) return "key_refused";
  if (status === 402 || matchesPattern(rules.quotaGone, status, fault)) return "quota_gone";
  if (status === 410 || matchesPattern(rules.modelGone, status, fault)) return "model_gone";
  if (matchesPattern(rules.contextWindow, status, fault)) return "context_window";
  if (matchesPattern(rules.contentPolicy, status, fault)) return "content_policy";
  // The account may not do this.
  if (status === 403) return "model_gone";
  if (status === TOO_MANY_REQUESTS) return saysRetryable ? "overloaded" : "rate_limited";
  if (BUSY.has(status)) return "overloaded";
  // A redirection is not followed, so that it is no answer either.
  const isAnswer = status >= 400 && status < 500 && status !== 408;
  return saysRetryable || !isAnswer ? "broken" : "request";
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
