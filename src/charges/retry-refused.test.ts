import { expect, test } from "bun:test";
import { retryRefused } from "./retry-refused.ts";

test("a retry key that cannot be answered is refused with 409 and a delay", () => {
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
