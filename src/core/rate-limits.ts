/**
 * The limits of one account; an absent limit doesn't apply. If several are reached, the error names the first of them
 * in this order. A minute begins with the first call that is admitted after the previous minute ended; a clock that
 * steps back doesn't begin one.
 */
export interface RateLimits {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrentCalls?: number;
}
