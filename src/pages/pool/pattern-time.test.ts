import { expect, test } from "bun:test";
import { PatternTime } from "./pattern-time.ts";

test("a user has two seconds a list, and ten a minute", () => {
  let now = 0;
  const time = new PatternTime(() => now);
  for (const left of [2_000, 2_000, 2_000, 2_000, 1_000, -500]) {
    expect(time.leftMs("alice")).toBe(left);
    time.spend("alice", left === 2_000 ? 2_250 : 1_500);
  }
  expect(time.leftMs("bob")).toBe(2_000);
  now = 60_000;
  expect(time.leftMs("alice")).toBe(2_000);
});
