import { type Principal, projectOf } from "../auth/index.ts";
import { type RateLimits, GatewayError } from "../core/index.ts";
import type { Hold, OutcomeOf, RateState, SeenRates } from "../ledger/index.ts";

/** The limits of one level of an account's chain, and the counts of its minute. */
interface LevelRates {
  limits: RateLimits;
  seen: RateState;
}

/** Limits by level: of a token, its user, its organisation. */
export type OwnRates = Pick<Principal, "rates" | "ratesAbove">;

/** OpenAI's headers with the remaining quota of a minute (`docs/wire/openai.md`): for each unit, of the level that has the least. */
export function rateHeaders(own: OwnRates, seen: SeenRates, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const levels = levelsOf(own, seen);
  const add = (unit: string, quotaOf: (level: LevelRates) => [limit: number | undefined, used: number]): void => {
    let least: number | undefined;
    for (const level of levels) {
      const [limit, used] = quotaOf(level);
      if (limit === undefined) continue;
      const remaining = Math.max(limit - used, 0);
      if (least !== undefined && remaining >= least) continue;
      least = remaining;
      headers[`x-ratelimit-limit-${unit}`] = String(limit);
      headers[`x-ratelimit-remaining-${unit}`] = String(remaining);
      headers[`x-ratelimit-reset-${unit}`] = `${Math.max(level.seen.minuteEndsAt - now, 0) / 1_000}s`;
    }
  };
  add("requests", ({ limits, seen: counts }) => [limits.requestsPerMinute, counts.requests]);
  add("tokens", ({ limits, seen: counts }) => [limits.tokensPerMinute, counts.tokens]);
  return headers;
}

function levelsOf({ rates, ratesAbove = [] }: OwnRates, seen: SeenRates): LevelRates[] {
  const states = [seen.rates, ...(seen.ratesAbove ?? [])];
  return [rates ?? {}, ...ratesAbove].flatMap((limits, level) => {
    const state = states[level];
    return state === undefined ? [] : [{ limits, seen: state }];
  });
}

/** Whether a limit of any level counts the tokens of calls. */
export function countsTokens({ rates, ratesAbove }: OwnRates): boolean {
  if (rates?.tokensPerMinute !== undefined) return true;
  return ratesAbove?.some((limits) => limits.tokensPerMinute !== undefined) === true;
}

const meanings: Record<keyof RateLimits, [unit: string, when: string]> = {
  requestsPerMinute: ["request", "a minute"],
  tokensPerMinute: ["token", "a minute"],
  concurrentCalls: ["call", "at the same time"],
};

/** Seconds after which a call refused for concurrency may be retried. */
const OPEN_CALL_RETRY_SECONDS = 1;

/** The payer of a level, upwards from the token. */
function payerOf(user: string, level: number): string {
  const holder = projectOf(user) === undefined ? "user" : "project";
  return ["This token", `This token's ${holder}`, "This token's organisation"][level] ?? "This account";
}

/** The refusal of a call that exceeds one of its limits; `tokens` are those that it would have added. */
export function rateExceeded(
  { limit, level = 0, ...seen }: OutcomeOf<Hold> & { outcome: "limited" },
  { own, tokens, now }: { own: OwnRates & Pick<Principal, "user">; tokens: number; now: number },
): GatewayError {
  const rates = level === 0 ? own.rates : own.ratesAbove?.[level - 1];
  const counts = level === 0 ? seen.rates : seen.ratesAbove?.[level - 1];
  const waitMs = limit === "concurrentCalls" ? OPEN_CALL_RETRY_SECONDS * 1_000 : (counts?.minuteEndsAt ?? now) - now;
  const most = rates?.[limit] ?? 0;
  const [unit, when] = meanings[limit];
  const meaning = `${most} ${unit}${most === 1 ? "" : "s"} ${when}`;
  const alone = tokens > most ? ", more than a whole minute has" : "";
  const needs = limit === "tokensPerMinute" ? ` This call may use about ${tokens}${alone}.` : "";
  return new GatewayError("rate_limit_exceeded", `${payerOf(own.user, level)} is limited to ${meaning}.${needs}`, {
    retryAfterSeconds: Math.max(Math.ceil(waitMs / 1_000), 1),
    headers: rateHeaders(own, seen, now),
  });
}
