import type { RateLimits } from "../core/index.ts";
import type { Hold, RateState, SeenRates } from "./operations.ts";

const MINUTE_MS = 60_000;

/** The counts of an account's calls. */
export interface CallCounts {
  minuteStart: number;
  minuteRequests: number;
  minuteTokens: number;
  openCalls: number;
}

/** The counts of a minute after a call with this many tokens is admitted. */
export function withCall(seen: RateState, tokens: number): RateState {
  const { requests, calls, minuteEndsAt } = seen;
  return { requests: requests + 1, tokens: seen.tokens + tokens, calls: calls + 1, minuteEndsAt };
}

/** The counts of the minute at `at`: the running one, or the one that a call would begin. */
export function ratesAt(counts: CallCounts, at: number): RateState {
  const calls = counts.openCalls;
  if (hasEnded(counts, at)) return { requests: 0, tokens: 0, calls, minuteEndsAt: at + MINUTE_MS };
  const { minuteRequests: requests, minuteTokens: tokens, minuteStart } = counts;
  return { requests, tokens, calls, minuteEndsAt: minuteStart + MINUTE_MS };
}

/** The first limit that would be exceeded, if any. */
export function passedLimit(limits: RateLimits, admitted: RateState): keyof RateLimits | undefined {
  if (isPast(limits.requestsPerMinute, admitted.requests)) return "requestsPerMinute";
  if (isPast(limits.tokensPerMinute, admitted.tokens)) return "tokensPerMinute";
  return isPast(limits.concurrentCalls, admitted.calls) ? "concurrentCalls" : undefined;
}

/** The limits of a hold by the levels of its chain; undefined if it has none. */
export function limitsByLevel({ rates, ratesAbove }: Hold): RateLimits[] | undefined {
  if (rates === undefined && (ratesAbove === undefined || ratesAbove.length === 0)) return undefined;
  return [rates ?? {}, ...(ratesAbove ?? [])];
}

/** The counts of the levels as the outcome of a hold has them: of those that it has limits for. */
export function seenRates({ rates, ratesAbove }: Hold, [first, ...above]: readonly RateState[]): SeenRates {
  return {
    ...(rates !== undefined && first !== undefined && { rates: first }),
    ...(ratesAbove !== undefined && { ratesAbove: above.slice(0, ratesAbove.length) }),
  };
}

export function countCall(counts: CallCounts, at: number, tokens: number): void {
  if (hasEnded(counts, at)) {
    counts.minuteStart = at;
    counts.minuteRequests = 0;
    counts.minuteTokens = 0;
  }
  counts.minuteRequests += 1;
  counts.minuteTokens += tokens;
  counts.openCalls += 1;
}

/** Counts the end of a call; `excess` is the difference between its real tokens and those counted at `takenAt`. */
export function countEnd(counts: CallCounts, takenAt: number, excess: number): void {
  counts.openCalls -= 1;
  if (takenAt >= counts.minuteStart) counts.minuteTokens = Math.max(0, counts.minuteTokens + excess);
}

/** If the clock went back, the minute continues. */
function hasEnded({ minuteStart }: CallCounts, at: number): boolean {
  return at - minuteStart >= MINUTE_MS;
}

function isPast(limit: number | undefined, count: number): boolean {
  return limit !== undefined && count > limit;
}
