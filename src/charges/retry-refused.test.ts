import { expect, test } from "bun:test";
import { retryRefused } from "./retry-refused.ts";

test("a retry key that can't be answered says so with 409, and when to come again", () => {
  expect(retryRefused("retry-running")).toMatchObject({
    code: "idempotency_key_in_use",
    status: 409,
    retryAfterSeconds: 1,
  });
  expect(retryRefused("retry-mismatch")).toMatchObject({
    code: "idempotency_key_reused",
    status: 409,
    retryAfterSeconds: undefined,
  });
});
