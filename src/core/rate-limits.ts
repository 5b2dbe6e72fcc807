/**
 * Limits of one account; an absent one doesn't limit. Where several are reached, the first of them here is named. A
 * minute begins with the first admitted call after the last minute ended, and only time that goes on begins one.
 */
export interface RateLimits {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrentCalls?: number;
}
