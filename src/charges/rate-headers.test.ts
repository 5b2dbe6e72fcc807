import { describe, expect, test } from "bun:test";
import type { RateLimits } from "../core/index.ts";
import type { RateState } from "../ledger/index.ts";
import { countsTokens, rateExceeded, rateHeaders } from "./rate-headers.ts";

const now = 1_000_000;
const seen: RateState = { requests: 3, tokens: 120, calls: 2, minuteEndsAt: now + 41_250 };

const requests = {
  "x-ratelimit-limit-requests": "10",
  "x-ratelimit-remaining-requests": "7",
  "x-ratelimit-reset-requests": "41.25s",
};
const tokens = {
  "x-ratelimit-limit-tokens": "1000",
  "x-ratelimit-remaining-tokens": "880",
  "x-ratelimit-reset-tokens": "41.25s",
};

describe("the headers", () => {
  test.each<[string, RateLimits, object]>([
    ["tell what is left of requests", { requestsPerMinute: 10 }, requests],
    ["tell what is left of tokens", { tokensPerMinute: 1_000 }, tokens],
    ["tell both", { requestsPerMinute: 10, tokensPerMinute: 1_000 }, { ...requests, ...tokens }],
    ["have no word for calls at the same time", { concurrentCalls: 4 }, {}],
    ["are none without limits", {}, {}],
  ])("%s", (_title, rates, headers) => {
    expect(rateHeaders({ rates }, { rates: seen }, now)).toEqual(headers as Record<string, string>);
  });

  test("never contain less than zero, nor a time in the past", () => {
    const own = { rates: { requestsPerMinute: 2, tokensPerMinute: 100 } };
    expect(rateHeaders(own, { rates: seen }, seen.minuteEndsAt + 5)).toMatchObject({
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-requests": "0s",
    });
  });
});

describe("of several levels", () => {
  const ofUser: RateState = { requests: 9, tokens: 200, calls: 3, minuteEndsAt: now + 5_000 };
  const ofOrganisation: RateState = { requests: 90, tokens: 950, calls: 30, minuteEndsAt: now + 50_000 };
  const counts = { rates: seen, ratesAbove: [ofUser, ofOrganisation] };

  test("the headers tell of the one with the least, for requests and for tokens", () => {
    const own = {
      rates: { requestsPerMinute: 10, tokensPerMinute: 1_000 },
      ratesAbove: [{ requestsPerMinute: 11 }, { requestsPerMinute: 1_000, tokensPerMinute: 1_000 }],
    };
    expect(rateHeaders(own, counts, now)).toEqual({
      "x-ratelimit-limit-requests": "11",
      "x-ratelimit-remaining-requests": "2",
      "x-ratelimit-reset-requests": "5s",
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "50",
      "x-ratelimit-reset-tokens": "50s",
    });
  });

  test("the refusal names the one that is reached, and waits for its minute", () => {
    const own = { rates: undefined, ratesAbove: [{}, { requestsPerMinute: 90 }] };
    const refusal = { outcome: "limited", limit: "requestsPerMinute", level: 2, ...counts } as const;
    expect(rateExceeded(refusal, { own: { user: "ann", ...own }, tokens: 0, now })).toMatchObject({
      message: "This token's organisation is limited to 90 requests a minute.",
      retryAfterSeconds: 50,
      headers: { "x-ratelimit-limit-requests": "90", "x-ratelimit-remaining-requests": "0" },
    });
    const ofProject = { user: "project:site", rates: undefined, ratesAbove: [{ requestsPerMinute: 90 }] };
    expect(rateExceeded({ ...refusal, level: 1 }, { own: ofProject, tokens: 0, now }).message).toBe(
      "This token's project is limited to 90 requests a minute.",
    );
  });

  test("tokens are counted if any of them limits them", () => {
    expect(countsTokens({ rates: { requestsPerMinute: 1 }, ratesAbove: [{}, { concurrentCalls: 1 }] })).toBe(false);
    expect(countsTokens({ rates: undefined, ratesAbove: [{}, { tokensPerMinute: 1 }] })).toBe(true);
  });
});

describe("the refusal", () => {
  const rates = { requestsPerMinute: 3, tokensPerMinute: 200, concurrentCalls: 2 };
  const refused = (limit: keyof RateLimits) => ({ outcome: "limited", limit, rates: seen }) as const;

  test.each<[keyof RateLimits, number, string]>([
    ["requestsPerMinute", 42, "This token is limited to 3 requests a minute."],
    ["tokensPerMinute", 42, "This token is limited to 200 tokens a minute. This call may use about 90."],
    ["concurrentCalls", 1, "This token is limited to 2 calls at the same time."],
  ])("for %s contains the time of the next attempt", (limit, retryAfterSeconds, message) => {
    const error = rateExceeded(refused(limit), { own: { user: "ann", rates }, tokens: 90, now });
    expect(error).toMatchObject({ code: "rate_limit_exceeded", status: 429, retryAfterSeconds, message });
    expect(error.headers).toEqual(rateHeaders({ rates }, { rates: seen }, now));
  });

  test("of a limit of one uses the singular", () => {
    const { message } = rateExceeded(refused("concurrentCalls"), {
      own: { user: "ann", rates: { concurrentCalls: 1 } },
      tokens: 0,
      now,
    });
    expect(message).toBe("This token is limited to 1 call at the same time.");
  });

  test("never suggests an immediate retry", () => {
    expect(
      rateExceeded(refused("requestsPerMinute"), { own: { user: "ann", rates }, tokens: 0, now: seen.minuteEndsAt })
        .retryAfterSeconds,
    ).toBe(1);
  });
});
