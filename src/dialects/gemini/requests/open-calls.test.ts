import { expect, test } from "bun:test";
import { OpenCalls } from "./open-calls.ts";

test("a result belongs to the call of its id, else to the first of its name that has none", () => {
  const calls = new OpenCalls();
  const at = (index: number): string => `contents.1.parts.${index}`;
  expect([calls.begin("a", "f", at(0)), calls.begin("", "f", at(1)), calls.begin("b", "g", at(2))]).toEqual([
    "a",
    "call_1_1",
    "b",
  ]);
  expect([calls.end("b", "f"), calls.end("other", "f"), calls.end(undefined, "f"), calls.end("a", "f")]).toEqual([
    "b",
    "a",
    "call_1_1",
    undefined,
  ]);
});

test("results in another order than their calls take no quadratic time", () => {
  const calls = new OpenCalls();
  const count = 200_000;
  for (let index = 0; index < count; index += 1) calls.begin(`c${index}`, `f${index % 2}`, "");
  // Minutes, if the open calls are searched for each result.
  let found = 0;
  for (let index = count - 1; index >= 0; index -= 1) found += calls.end(`c${index}`, "f0") === `c${index}` ? 1 : 0;
  expect(found).toBe(count);
});
