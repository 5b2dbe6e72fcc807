import { expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { SignInAttempts } from "./attempts.ts";

let now = 0;
const refused = (): Promise<never> => Promise.reject(new GatewayError("invalid_token", "no"));
const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => "ok",
    (thrown: unknown) => (thrown instanceof GatewayError ? thrown.code : String(thrown)),
  );
const outcome = (attempts: SignInAttempts, address: string): Promise<string> => codeOf(attempts.of(address, refused()));

test("an address that has failed sixty times waits for the next minute, others do not", async () => {
  now = 30_000;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 60; place++) expect(await outcome(attempts, "a")).toBe("invalid_token");
  expect(await outcome(attempts, "a")).toBe("rate_limit_exceeded");
  expect(await outcome(attempts, "b")).toBe("invalid_token");
  now = 60_000;
  expect(await outcome(attempts, "a")).toBe("invalid_token");
});

test("the addresses of one IPv6 network count together", async () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 60; place++) await outcome(attempts, `2001:db8:1:2:${place.toString(16)}::1`);
  expect(await outcome(attempts, "2001:db8:1:2::ffff")).toBe("rate_limit_exceeded");
  expect(await outcome(attempts, "2001:db8:1:3::1")).toBe("invalid_token");
});

test("many networks together keep nobody out, and fill no memory", async () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 20_000; place++) await outcome(attempts, `a${place}`);
  expect(await outcome(attempts, "another")).toBe("invalid_token");
});

test("those that succeed are refused by no failures, and do not count as such", async () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 100; place++) await outcome(attempts, "a");
  expect(await codeOf(attempts.of("a", Promise.resolve()))).toBe("ok");
});

test("one token begins a bounded number of sessions in a minute", () => {
  now = 0;
  const attempts = new SignInAttempts(() => now);
  for (let place = 0; place < 30; place++) attempts.begin("one");
  expect(() => attempts.begin("one")).toThrow("Too many sign-ins");
  attempts.begin("another");
  now = 60_000;
  attempts.begin("one");
});
