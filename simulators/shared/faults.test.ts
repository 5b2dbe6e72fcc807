import { expect, test } from "bun:test";

import { FaultBook, FaultSpecError, noFaults, parseFaults, splitModel } from "./faults.ts";

test("directives are joined with a plus", () => {
  expect(parseFaults("status-429+retry-after-1+times-2+key-sk-a-b")).toEqual({
    ...noFaults,
    status: 429,
    retryAfterSeconds: 1,
    times: 2,
    key: "sk-a-b",
  });
});

test("error-200 is a separate directive, other numbers count events", () => {
  expect(parseFaults("error-200")).toEqual({ ...noFaults, errorInOk: true });
  expect(parseFaults("error-20")).toEqual({ ...noFaults, errorAfter: 20 });
});

test.each([
  "",
  "status",
  "status-",
  "status-99",
  "status-600",
  "slow-x",
  "split-0",
  "key-",
  "times-0",
  "gzip-1",
  "cut--1",
  "constructor",
  "constructor-5",
])("%p is refused", (spec) => {
  expect(() => parseFaults(spec)).toThrow(FaultSpecError);
});

test("a model name is split at its first plus", () => {
  expect(splitModel("gpt-5-mini+status-500+times-1")).toEqual({ model: "gpt-5-mini", spec: "status-500+times-1" });
  expect(splitModel("gpt-5-mini")).toEqual({ model: "gpt-5-mini", spec: null });
});

test("each subject has its own counter", () => {
  const book = new FaultBook();
  const take = (subject: string) => book.take("empty+times-1", subject, null).empty;
  expect([take("a"), take("b"), take("a")]).toEqual([true, true, false]);
  book.reset();
  expect(take("a")).toBe(true);
});
