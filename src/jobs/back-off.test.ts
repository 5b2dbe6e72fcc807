import { expect, test } from "bun:test";
import { backOffMs } from "./back-off.ts";

test.each([
  [1, 0, 500],
  [1, 0.999_999, 1_000],
  [2, 0, 1_000],
  [2, 0.5, 1_500],
  [9, 0, 128_000],
  [9, 0.999_999, 256_000],
  [10, 0, 150_000],
  [10, 0.999_999, 300_000],
  [2_000, 0, 150_000],
  [2_000, 0.999_999, 300_000],
])("after failure %d, at %d of the spread, a job waits %d ms", (attempts, fraction, milliseconds) => {
  expect(backOffMs(attempts, fraction)).toBe(milliseconds);
});
