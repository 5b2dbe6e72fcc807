import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { parseBody } from "../../bodies/index.ts";
import { GatewayError } from "../../core/index.ts";
import { fingerprintOf, readRetryKey, retryRefused } from "./retry-key.ts";

const schema = z.looseObject({ model: z.string() });
const read = (key: string) => readRetryKey(new Headers({ "Idempotency-Key": key }));
const fingerprint = (operation: string, written: string) =>
  fingerprintOf(operation, parseBody(Buffer.from(written), schema, []));

describe("a key", () => {
  test("may be missing", () => {
    expect(readRetryKey(new Headers())).toBeUndefined();
  });

  test.each(["a", "0b6f2d0e-7d4c-4c8e-9a31-3b1f6d0f0a11", "order 17, try", "~!@#$%^&*()", "x".repeat(255)])(
    "is read as it is: %p",
    (key) => {
      expect(read(key)).toBe(key);
    },
  );

  test.each([
    ["empty", ""],
    ["blank", "  "],
    ["too long", "x".repeat(256)],
    ["not ASCII", "clé"],
    ["a tab within", "a\tb"],
  ])("is refused with 422 if it is %s", (_title, key) => {
    let error: unknown;
    try {
      read(key);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: "validation_failed", status: 422, param: "idempotency-key" });
  });

  test("goes with a fingerprint of the operation and each byte of the body", async () => {
    const first = await fingerprint("chat", '{"model":"openai/m"}');
    expect(await fingerprint("chat", '{"model":"openai/m"}')).toBe(first);
    expect(await fingerprint("embeddings", '{"model":"openai/m"}')).not.toBe(first);
    expect(await fingerprint("chat", '{"model": "openai/m"}')).not.toBe(first);
  });
});

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
