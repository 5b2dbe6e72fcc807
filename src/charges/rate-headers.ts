import { type RateLimits, GatewayError } from "../core/index.ts";
import type { RateState } from "../ledger/index.ts";

/** OpenAI's headers with the remaining quota of a token's minute (`docs/wire/openai.md`). */
export function rateHeaders(rates: RateLimits, seen: RateState, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const reset = `${Math.max(seen.minuteEndsAt - now, 0) / 1_000}s`;
  const add = (unit: string, limit: number | undefined, used: number): void => {
    if (limit === undefined) return;
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(Math.max(limit - used, 0));
    headers[`x-ratelimit-reset-${unit}`] = reset;
  };
  add("requests", rates.requestsPerMinute, seen.requests);
  add("tokens", rates.tokensPerMinute, seen.tokens);
  return headers;
}

const meanings: Record<keyof RateLimits, [unit: string, when: string]> = {
  requestsPerMinute: ["request", "a minute"],
  tokensPerMinute: ["token", "a minute"],
  concurrentCalls: ["call", "at the same time"],
};

/** Seconds after which a call refused for concurrency may be retried. */
const OPEN_CALL_RETRY_SECONDS = 1;

/** A token's limits, the counts of its minute, and the tokens that the refused call would have added. */
export interface RateCheck {
  limits: RateLimits;
  seen: RateState;
  tokens: number;
}

/** The refusal of a call that exceeds one of the token's limits. */
export function rateExceeded(
  limit: keyof RateLimits,
  { limits: rates, seen, tokens }: RateCheck,
  now: number,
): GatewayError {
  const waitMs = limit === "concurrentCalls" ? OPEN_CALL_RETRY_SECONDS * 1_000 : seen.minuteEndsAt - now;
  const most = rates[limit] ?? 0;
  const [unit, when] = meanings[limit];
  const meaning = `${most} ${unit}${most === 1 ? "" : "s"} ${when}`;
  const alone = tokens > most ? ", more than a whole minute has" : "";
  const needs = limit === "tokensPerMinute" ? ` This call may use about ${tokens}${alone}.` : "";
  return new GatewayError("rate_limit_exceeded", `This token is limited to ${meaning}.${needs}`, {
    retryAfterSeconds: Math.max(Math.ceil(waitMs / 1_000), 1),
    headers: rateHeaders(rates, seen, now),
  });
}
