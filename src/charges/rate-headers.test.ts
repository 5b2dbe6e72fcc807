import { describe, expect, test } from "bun:test";
import type { RateLimits } from "../core/index.ts";
import type { RateState } from "../ledger/index.ts";
import { rateExceeded, rateHeaders } from "./rate-headers.ts";

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
    expect(rateHeaders(rates, seen, now)).toEqual(headers as Record<string, string>);
  });

  test("never contain less than zero, nor a time in the past", () => {
    expect(rateHeaders({ requestsPerMinute: 2, tokensPerMinute: 100 }, seen, seen.minuteEndsAt + 5)).toMatchObject({
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-requests": "0s",
    });
  });
});

describe("the refusal", () => {
  const rates = { requestsPerMinute: 3, tokensPerMinute: 200, concurrentCalls: 2 };

  test.each<[keyof RateLimits, number, string]>([
    ["requestsPerMinute", 42, "This token is limited to 3 requests a minute."],
    ["tokensPerMinute", 42, "This token is limited to 200 tokens a minute. This call may use about 90."],
    ["concurrentCalls", 1, "This token is limited to 2 calls at the same time."],
  ])("for %s contains the time of the next attempt", (limit, retryAfterSeconds, message) => {
    const error = rateExceeded(limit, { limits: rates, seen, tokens: 90 }, now);
    expect(error).toMatchObject({ code: "rate_limit_exceeded", status: 429, retryAfterSeconds, message });
    expect(error.headers).toEqual(rateHeaders(rates, seen, now));
  });

  test("of a limit of one uses the singular", () => {
    const { message } = rateExceeded("concurrentCalls", { limits: { concurrentCalls: 1 }, seen, tokens: 0 }, now);
    expect(message).toBe("This token is limited to 1 call at the same time.");
  });

  test("never suggests an immediate retry", () => {
    expect(
      rateExceeded("requestsPerMinute", { limits: rates, seen, tokens: 0 }, seen.minuteEndsAt).retryAfterSeconds,
    ).toBe(1);
  });
});
