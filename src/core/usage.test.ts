import { expect, test } from "bun:test";
import { inputTokens, outputTokens, type Usage, usageBuckets } from "./usage.ts";

test("every bucket of tokens is counted as input or as output, and none twice", () => {
  const counts = Object.fromEntries(usageBuckets.map((bucket, index) => [bucket, 10 ** index])) as Required<Usage>;
  const { requests, ...tokens } = counts;
  const total = Object.values(tokens).reduce((sum, count) => sum + count, 0);
  expect(inputTokens(counts) + outputTokens(counts)).toBe(total);
  expect(outputTokens(counts)).toBe(counts.output + counts.reasoning + counts.outputAudio);
  expect(requests).toBeGreaterThan(0);
});

test("absent buckets are zero", () => {
  expect([inputTokens({}), outputTokens({ requests: 1 })]).toEqual([0, 0]);
});
