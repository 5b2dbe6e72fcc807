/** The model's state of calls beside their money: minutes, and stored answers. */
import type { RateLimits } from "../../../src/core/index.ts";
import type { Hold, StoredAnswer, OutcomeOf, RateState, SeenRates } from "../../../src/ledger/index.ts";

const minuteMs = 60_000;

interface Counted {
  holdId: string;
  tokens: number;
  isPart?: boolean | undefined;
}

/** Each account's last minute: when it began, and the calls that it has seen. */
export class PaperMinutes {
  readonly #minutes = new Map<string, { start: number; calls: Counted[] }>();

  seen(account: string, at: number, openCalls: number): RateState {
    const minute = this.#minuteOf(account, at);
    const tokens = minute.calls.reduce((sum, call) => sum + call.tokens, 0);
    const requests = minute.calls.filter(({ isPart }) => isPart !== true).length;
    return { requests, tokens, calls: openCalls, minuteEndsAt: minute.start + minuteMs };
  }

  count(account: string, at: number, call: Counted): void {
    const minute = this.#minuteOf(account, at);
    minute.calls.push(call);
    this.#minutes.set(account, minute);
  }

  /** A call that was taken before the last minute began, by its own clock, is no longer of interest. */
  correct(account: string, takenAt: number, { holdId, tokens }: Counted): void {
    const minute = this.#minutes.get(account);
    if (minute === undefined || takenAt < minute.start) return;
    const call = minute.calls.find((each) => each.holdId === holdId);
    if (call !== undefined) call.tokens = tokens;
  }

  #minuteOf(account: string, at: number) {
    const last = this.#minutes.get(account);
    return last === undefined || last.start + minuteMs <= at ? { start: at, calls: [] } : last;
  }
}

/** The counts in the outcome of a hold: those of the levels for which it names limits. */
export function seenOf({ rates, ratesAbove }: Hold, [first, ...above]: readonly RateState[]): SeenRates {
  return {
    ...(rates && first && { rates: first }),
    ...(ratesAbove && { ratesAbove: above.slice(0, ratesAbove.length) }),
  };
}

/** The result of a hold's limits for a call counted as `tokens`: the first level that is over one of them. */
export function refusalByRates(hold: Hold, seen: readonly RateState[]): OutcomeOf<Hold> | undefined {
  for (const [level, limits] of [hold.rates, ...(hold.ratesAbove ?? [])].entries()) {
    const counts = seen[level];
    const limit = counts && limits && overLimit(limits, counts, hold);
    if (limit !== undefined) return { outcome: "limited", limit, ...(level > 0 && { level }), ...seenOf(hold, seen) };
  }
  return undefined;
}

function overLimit(
  limits: RateLimits,
  seen: RateState,
  { tokens = 0, isPart = false }: Hold,
): keyof RateLimits | undefined {
  const { requestsPerMinute, tokensPerMinute, concurrentCalls } = limits;
  if (requestsPerMinute !== undefined && seen.requests + (isPart ? 0 : 1) > requestsPerMinute)
    return "requestsPerMinute";
  if (tokensPerMinute !== undefined && seen.tokens + tokens > tokensPerMinute) return "tokensPerMinute";
  return concurrentCalls !== undefined && seen.calls + (isPart ? 0 : 1) > concurrentCalls
    ? "concurrentCalls"
    : undefined;
}

export interface PaperAnswer {
  account: string;
  key: string;
  fingerprint: string;
  holdId: string;
  answer: StoredAnswer;
  expiresAt: number;
}

export class PaperAnswers {
  #answers: PaperAnswer[] = [];

  all(): readonly PaperAnswer[] {
    return this.#answers;
  }

  find(account: string, key: string, at: number): PaperAnswer | undefined {
    return this.#answers.find((each) => each.account === account && each.key === key && at <= each.expiresAt);
  }

  /** A call that claims the key removes its stored answer. */
  drop(account: string, key: string): void {
    this.#answers = this.#answers.filter((each) => each.account !== account || each.key !== key);
  }

  /** The answer to this hold's call, whether or not its time is over. */
  of(account: string, key: string, holdId: string): PaperAnswer | undefined {
    return this.#answers.find((each) => each.account === account && each.key === key && each.holdId === holdId);
  }

  keep(answer: PaperAnswer): void {
    this.#answers.push(answer);
  }

  forget(at: number): void {
    this.#answers = this.#answers.filter(({ expiresAt }) => expiresAt >= at);
  }
}
