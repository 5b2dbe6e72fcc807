import { expect, test } from "bun:test";
import { type ErrorCode, GatewayError, shuttingDown } from "../../core/index.ts";
import { outcomeOf } from "./end-of-work.ts";

const failureOf = (code: ErrorCode): GatewayError => new GatewayError(code, "m");

test.each<[ErrorCode, string, string]>([
  ["upstream_unreachable", "failed", "interrupted"],
  ["upstream_timeout", "failed", "interrupted"],
  ["upstream_invalid_answer", "failed", "interrupted"],
  ["upstream_interrupted", "failed", "interrupted"],
  ["target_unreadable", "failed", "interrupted"],
  ["moderation_blocked", "failed", "interrupted"],
  ["insufficient_credits", "failed", "interrupted"],
  ["shutting_down", "interrupted", "interrupted"],
  ["memory_exhausted", "interrupted", "interrupted"],
  ["internal_error", "interrupted", "interrupted"],
])("%s is %s before an answer has begun, and %s from then on", (code, before, after) => {
  const error = failureOf(code);
  expect(outcomeOf(error, { hasLeft: false, hasBegun: false })).toBe(before as "failed");
  expect(outcomeOf(error, { hasLeft: false, hasBegun: true })).toBe(after as "interrupted");
  expect(outcomeOf(error, { hasLeft: true, hasBegun: true })).toBe("abandoned");
});

test("a fault of the gateway's own code interrupts, and a stop does not abandon", () => {
  expect(outcomeOf(new TypeError("a bug"), { hasLeft: false, hasBegun: false })).toBe("interrupted");
  expect(outcomeOf(shuttingDown(), { hasLeft: false, hasBegun: false })).toBe("interrupted");
});
