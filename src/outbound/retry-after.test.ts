import { expect, test } from "bun:test";
import { retryAfterMs } from "./retry-after.ts";

test.each([
  [null, undefined],
  ["", undefined],
  ["120", 120_000],
  ["-1", undefined],
  ["soon", undefined],
  ["Thu, 01 Jan 1970 00:02:00 GMT", 60_000],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
])("retry-after: %s asks for %p ms", (text, milliseconds) => {
  expect(retryAfterMs(text, 60_000)).toBe(milliseconds);
});
