import { expect, test } from "bun:test";
import {
  inputBuckets,
  inputTokens,
  outputBuckets,
  outputTokens,
  type Usage,
  type UsageBucket,
  usageBuckets,
} from "./usage.ts";

test("every token bucket is counted exactly once, as input or as output", () => {
  const counts = Object.fromEntries(usageBuckets.map((bucket, index) => [bucket, 10 ** index])) as Required<Usage>;
  const total = (buckets: readonly UsageBucket[]): number => buckets.reduce((sum, bucket) => sum + counts[bucket], 0);
  expect(inputTokens(counts)).toBe(total(inputBuckets));
  expect(outputTokens(counts)).toBe(total(outputBuckets));
});

test("absent buckets are zero", () => {
  expect([inputTokens({}), outputTokens({ requests: 1, images: 2, inputAudioMs: 3 })]).toEqual([0, 0]);
});
