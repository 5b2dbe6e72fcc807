/** The units and the times to the first token of calls, and what sums have of them. */
import fc from "fast-check";
import type { UsageSums } from "../../../src/generations/index.ts";
import { firstTokenBounds, firstTokenCounts } from "../../../src/ledger/index.ts";

/** Those with a column, and those with rows. */
const buckets = ["cacheRead", "inputAudio", "images", "reasoning", "requests"] as const;

const units = fc.integer({ min: 0, max: 9 });

/** Arbitraries of a call's members. */
export const callDetails = {
  usage: fc.record(
    { input: units, cacheRead: units, inputAudio: units, images: units, reasoning: units, requests: units },
    { requiredKeys: [] },
  ),
  millisecondsToFirstByte: fc.option(fc.constantFrom(0, 100, 100.5, 350, 900, 30_000, 30_001), { nil: undefined }),
};

interface Call {
  usage: Readonly<Partial<Record<string, number>>>;
  millisecondsToFirstByte: number | undefined;
}

/** The details that the sums of some calls must have. */
export function detailsOf(calls: readonly Call[]) {
  const times = calls.flatMap(({ millisecondsToFirstByte: time }) => time ?? []);
  const within = (above: number, upTo: number): number => times.filter((time) => time > above && time <= upTo).length;
  return {
    units: buckets.map((bucket) => calls.reduce((sum, { usage }) => sum + BigInt(usage[bucket] ?? 0), 0n)),
    firstTokens: [...firstTokenBounds, Infinity].map((bound, index) =>
      within(firstTokenBounds[index - 1] ?? -1, bound),
    ),
  };
}

/** The details that sums have; those of nothing at all have none. */
export function shownDetails({ units: found, firstTokens = [] }: UsageSums) {
  const counts = firstTokenCounts(firstTokens).map(Number);
  return {
    units: buckets.map((bucket) => found?.get(bucket) ?? 0n),
    firstTokens: counts.length === 0 ? detailsOf([]).firstTokens : counts,
  };
}
