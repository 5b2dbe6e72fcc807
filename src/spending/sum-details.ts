import { bucketNames, inputBuckets, outputBuckets, usageBuckets } from "../core/index.ts";
import type { UsageSums } from "../generations/index.ts";
import { firstTokenBounds, firstTokenCounts, unknownBuckets } from "../ledger/index.ts";

/**
 * The units of calls by the names that answers have for buckets, without those of which there are none. `unknown_input` and `unknown_output` are
 * tokens of calls that were removed before their buckets were summed.
 */
export function bucketsJson({ inputTokens, outputTokens, units }: UsageSums): Record<string, number> {
  const unitsOf = (bucket: string): bigint => units?.get(bucket) ?? 0n;
  const rest = (tokens: bigint, [first, ...others]: readonly string[], unknown: string): readonly [string, bigint] => [
    first ?? "",
    [...others, unknown].reduce((left, bucket) => left - unitsOf(bucket), tokens),
  ];
  const derived = new Map([
    rest(inputTokens, inputBuckets, unknownBuckets.input),
    rest(outputTokens, outputBuckets, unknownBuckets.output),
  ]);
  const amounts = [
    ...usageBuckets.map((bucket) => [bucketNames[bucket], derived.get(bucket) ?? unitsOf(bucket)] as const),
    ["unknown_input", unitsOf(unknownBuckets.input)] as const,
    ["unknown_output", unitsOf(unknownBuckets.output)] as const,
  ];
  return Object.fromEntries(
    amounts.filter(([, amount]) => amount > 0n).map(([name, amount]) => [name, Number(amount)]),
  );
}

/**
 * The times within which parts of the calls had their first token, in milliseconds: each the least bound that holds for so many. Null above the
 * last bound, and without calls.
 */
export function firstTokenJson({ firstTokens = [] }: UsageSums) {
  const counts = firstTokenCounts(firstTokens).map(Number);
  const count = counts.reduce((sum, each) => sum + each, 0);
  const within = (part: number): number | null => {
    let seen = 0;
    const place = counts.findIndex((each) => (seen += each) >= part * count);
    return count === 0 ? null : (firstTokenBounds[place] ?? null);
  };
  return { p50: within(0.5), p95: within(0.95), p99: within(0.99), count };
}
