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

/** The counts of a minute after this hold is admitted. */
export function withCall(seen: RateState, { tokens = 0, isPart = false }: Pick<Hold, "tokens" | "isPart">): RateState {
  const { requests, calls, minuteEndsAt } = seen;
  const more = isPart ? 0 : 1;
  return { requests: requests + more, tokens: seen.tokens + tokens, calls: calls + more, minuteEndsAt };
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

/** The part of a call's counts that a hold, or its end, changes. */
interface CountedHold {
  tokens: number;
  /** See `Hold`. */
  isPart: boolean;
}

export function countCall(counts: CallCounts, at: number, { tokens, isPart }: CountedHold): void {
  if (hasEnded(counts, at)) {
    counts.minuteStart = at;
    counts.minuteRequests = 0;
    counts.minuteTokens = 0;
  }
  counts.minuteTokens += tokens;
  if (isPart) return;
  counts.minuteRequests += 1;
  counts.openCalls += 1;
}

/** Counts the end of a call; `tokens` is the difference between its real tokens and those counted at `takenAt`. */
export function countEnd(counts: CallCounts, takenAt: number, { tokens: excess, isPart }: CountedHold): void {
  if (!isPart) counts.openCalls -= 1;
  if (takenAt >= counts.minuteStart) counts.minuteTokens = Math.max(0, counts.minuteTokens + excess);
}

/** If the clock went back, the minute continues. */
function hasEnded({ minuteStart }: CallCounts, at: number): boolean {
  return at - minuteStart >= MINUTE_MS;
}

function isPast(limit: number | undefined, count: number): boolean {
  return limit !== undefined && count > limit;
}
