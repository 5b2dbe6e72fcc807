import { describe, expect, test } from "bun:test";
import type { FailureRules } from "../providers/index.ts";
import { classifyFailure, type FailureClass } from "./classify-failure.ts";

const now = Date.UTC(2026, 2, 4, 12);

const rules: FailureRules = {
  keyRefused: [{ statuses: [400, 403], codes: /^bad_key$/ }],
  quotaGone: [{ statuses: [402, 429], codes: /^no_quota$/ }],
  modelGone: [{ statuses: [404], codes: /^no_model$/ }],
  contextWindow: [{ statuses: [400], codes: /^too_long$/ }],
  contentPolicy: [{ statuses: [400, 403], codes: /^not_that$/ }],
  retryable: [{ statuses: [400, 429], codes: /^come_back$/ }],
};

const says = (code: string): string => JSON.stringify({ error: { code } });
const wait7 = JSON.stringify({ error: { details: [{ retryDelay: "7s" }] } });

const judge = (status: number, body = "", headers: Record<string, string> = {}): FailureClass =>
  classifyFailure(rules, { status, headers: new Headers(headers), body }, now);

const verdicts: [string, number, string, Partial<FailureClass>][] = [
  [
    "429 is worth another try when told when, and rests the key",
    429,
    "",
    { retryable: true, needsRetryAfter: true, name: "rate_limited" },
  ],
  ["503 too, and the key is fine", 503, "", { retryable: true, needsRetryAfter: true, name: "overloaded" }],
  ["498 is Groq's 503", 498, "", { retryable: true, needsRetryAfter: true, name: "overloaded" }],
  ["529 is Anthropic's 503", 529, "", { retryable: true, needsRetryAfter: true, name: "overloaded" }],
  ["500 is worth another try", 500, "", { retryable: true, needsRetryAfter: false, name: "broken" }],
  ["502 too", 502, "", { retryable: true, needsRetryAfter: false, name: "broken" }],
  ["504 is not: the upstream may still be at it", 504, "", { retryable: false, name: "broken" }],
  ["400 is the caller's", 400, "", { retryable: false, name: "request" }],
  ["404 too", 404, "", { retryable: false, name: "request" }],
  ["422 too", 422, "", { retryable: false, name: "request" }],
  ["402 means that the money is gone", 402, "", { retryable: false, name: "quota_gone" }],
  ["403 is a missing permission", 403, "", { retryable: false, name: "model_gone" }],
  ["410 is a model that is gone", 410, "", { retryable: false, name: "model_gone" }],
  ["408 is the upstream's", 408, "", { retryable: false, name: "broken" }],
  ["a redirection is no answer", 302, "", { retryable: false, name: "broken" }],
  ["401 refuses the key", 401, "", { retryable: false, name: "key_refused" }],
  ["a 400 that says so refuses the key", 400, says("bad_key"), { retryable: false, name: "key_refused" }],
  ["a 403 that says so refuses the key", 403, says("bad_key"), { retryable: false, name: "key_refused" }],
  ["a 500 that mentions a key is broken all the same", 500, says("bad_key"), { retryable: true, name: "broken" }],
  [
    "a 429 without quota is terminal and takes the key out",
    429,
    says("no_quota"),
    { retryable: false, name: "quota_gone" },
  ],
  ["a 402 without quota takes the key out", 402, says("no_quota"), { retryable: false, name: "quota_gone" }],
  [
    "a 429 that says come back needs no time",
    429,
    says("come_back"),
    { retryable: true, needsRetryAfter: false, name: "overloaded" },
  ],
  [
    "a 429 that repeats what the caller wrote is a limit like any other",
    429,
    JSON.stringify({ error: { code: "rate", message: 'no_quota, bad_key, come_back, "code":"no_quota"' } }),
    { retryable: true, needsRetryAfter: true, name: "rate_limited" },
  ],
  ["a 400 about a quota is the caller's", 400, says("no_quota"), { retryable: false, name: "request" }],
  [
    "a 400 that says come back is worth another try",
    400,
    says("come_back"),
    { retryable: true, needsRetryAfter: false, name: "broken" },
  ],
  ["a 404 that names the model", 404, says("no_model"), { retryable: false, name: "model_gone" }],
  ["an input that is too long", 400, says("too_long"), { retryable: false, name: "context_window" }],
  ["content that is refused", 403, says("not_that"), { retryable: false, name: "content_policy" }],
];

test.each(verdicts)("%s", (_title, status, body, verdict) => {
  expect(judge(status, body)).toMatchObject(verdict);
});

const httpDate = (at: number): string => new Date(at).toUTCString();

const waits: [string, Record<string, string>, string, number | undefined][] = [
  ["nobody says", {}, "", undefined],
  ["seconds", { "retry-after": "3" }, "", 3_000],
  ["parts of a second", { "retry-after": "0.25" }, "", 250],
  ["zero", { "retry-after": "0" }, "", 0],
  ["a date", { "retry-after": httpDate(now + 90_000) }, "", 90_000],
  ["a date that has passed", { "retry-after": httpDate(now - 90_000) }, "", 0],
  ["milliseconds", { "retry-after-ms": "1500" }, "", 1_500],
  ["milliseconds before seconds", { "retry-after-ms": "1500", "retry-after": "9" }, "", 1_500],
  ["seconds where the milliseconds are none", { "retry-after-ms": "soon", "retry-after": "9" }, "", 9_000],
  ["the body", {}, wait7, 7_000],
  ["a header before the body", { "retry-after": "3" }, wait7, 3_000],
  ["words", { "retry-after": "soon" }, "", undefined],
  ["words, then the body", { "retry-after": "soon" }, wait7, 7_000],
  ["an empty header", { "retry-after": "" }, "", undefined],
  ["a negative number of milliseconds", { "retry-after-ms": "-5" }, "", undefined],
];

describe("the delay that an upstream requests", () => {
  test.each(waits)("%s", (_title, headers, body, milliseconds) => {
    expect(judge(429, body, headers).retryAfterMs).toBe(milliseconds);
  });
});
