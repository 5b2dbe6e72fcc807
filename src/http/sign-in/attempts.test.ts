import { expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { SignInAttempts } from "./attempts.ts";

let now = 0;
const outcome = (attempts: SignInAttempts, address: string): string | undefined => {
  try {
    attempts.begin(address);
    return undefined;
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.code : String(thrown);
  }
};

test("an address that has failed sixty times waits for the next minute, others do not", () => {
  now = 30_000;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 60; place++) expect(outcome(attempts, "a")).toBeUndefined();
  expect(outcome(attempts, "a")).toBe("rate_limit_exceeded");
  expect(outcome(attempts, "b")).toBeUndefined();
  now = 60_000;
  expect(outcome(attempts, "a")).toBeUndefined();
});

test("those that succeed do not count, even if they end in another minute", () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 100; place++) attempts.begin("a")();
  const late = attempts.begin("a");
  now = 60_000;
  for (let place = 0; place < 60; place++) attempts.begin("a");
  late();
  expect(outcome(attempts, "a")).toBe("rate_limit_exceeded");
});

test("many addresses lock nobody else out, and those that are counted still wait", () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 1_000; place++) expect(outcome(attempts, `a${place}`)).toBeUndefined();
  for (let place = 0; place < 100; place++) expect(outcome(attempts, "another")).toBeUndefined();
  for (let place = 1; place < 60; place++) expect(outcome(attempts, "a0")).toBeUndefined();
  expect(outcome(attempts, "a0")).toBe("rate_limit_exceeded");
});
