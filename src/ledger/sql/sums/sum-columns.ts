/** The columns of the sums of calls, in the tables of days and of months. */
import type { UsageBucket } from "../../../core/index.ts";

/** The columns that identify a sum besides its day or month. */
export const sumKey = ["owner", "account_id", "provider", "model", "operation", "tags"] as const;

/** Calls, tokens and credits. */
export const callSums = ["requests", "failures", "input_tokens", "output_tokens", "credits", "list_credits"] as const;

/**
 * The buckets that most calls have: each is a column. Units of the others have rows in `daily_units` and `monthly_units`. `input` and
 * `output` are what the other buckets leave of the tokens.
 */
export const columnBuckets = [
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "reasoning",
  "requests",
] as const satisfies readonly UsageBucket[];

/** Their columns, in the same order. */
export const unitColumns = [
  "units_cache_read",
  "units_cache_write_5m",
  "units_cache_write_1h",
  "units_reasoning",
  "units_requests",
] as const;

/** Members of a record's usage that have no rows of units. */
export const WITHOUT_ROWS: readonly string[] = ["input", "output", "maxOutputTokens", ...columnBuckets];

/** The buckets of tokens whose calls were removed before units were summed. */
export const unknownBuckets = { input: "unknownInput", output: "unknownOutput" } as const;

/** The inclusive upper bounds of the times to the first token, in milliseconds. A further count is of the calls above them. */
export const firstTokenBounds = [100, 200, 350, 500, 750, 1_000, 1_500, 2_500, 5_000, 10_000, 30_000] as const;

/** A column has the counts of two bounds, since each column costs a call time: the second one from this bit on. */
const COUNT_BITS = 31n;
const SECOND = 1n << COUNT_BITS;

export const firstTokenColumns = [
  "first_tokens_0",
  "first_tokens_1",
  "first_tokens_2",
  "first_tokens_3",
  "first_tokens_4",
  "first_tokens_5",
] as const;

const pairs = firstTokenColumns.map((_name, index) => ({
  above: firstTokenBounds[2 * index - 1],
  middle: firstTokenBounds[2 * index],
  upTo: firstTokenBounds[2 * index + 1],
}));

/** All columns that are summed. */
export const sumColumns = [...callSums, ...unitColumns, ...firstTokenColumns] as const;

export type SumColumn = (typeof sumColumns)[number];

const within = ({ above, upTo }: (typeof pairs)[number]): string =>
  [above === undefined ? [] : `first_byte_ms > ${above}`, upTo === undefined ? [] : `first_byte_ms <= ${upTo}`]
    .flat()
    .join(" AND ");

/** SQL, of a call, for the columns of times to the first token; NULL of a call outside of them. */
export const firstTokenValues: readonly string[] = pairs.map(
  (pair) => `CASE WHEN ${within(pair)} THEN CASE WHEN first_byte_ms <= ${pair.middle} THEN 1 ELSE ${SECOND} END END`,
);

/** The column that counts a time to the first token, by its place among `firstTokenColumns`, and the amount that it grows by. */
export function firstTokenOf(milliseconds: number): { place: number; amount: number } {
  const place = pairs.findIndex(({ upTo = Infinity }) => milliseconds <= upTo);
  return { place, amount: milliseconds <= (pairs[place]?.middle ?? 0) ? 1 : Number(SECOND) };
}

/** The values of all those columns of one call. */
function firstTokensOf(milliseconds: number | null): bigint[] {
  const counted = milliseconds === null ? undefined : firstTokenOf(milliseconds);
  return pairs.map((_pair, place) => BigInt(place === counted?.place ? counted.amount : 0));
}

/** The counts of the bounds, in their order, and at the end of the calls above them, from the columns. */
export function firstTokenCounts(columns: readonly bigint[]): bigint[] {
  return columns.flatMap((column) => [column & (SECOND - 1n), column >> COUNT_BITS]);
}

/** The values of the columns of units and of first tokens of one call, and its rows of units. */
export function unitsOf(
  usage: Readonly<Record<string, unknown>>,
  millisecondsToFirstByte: number | null,
): { columns: bigint[]; rows: [bucket: string, units: bigint][] } {
  const columns = columnBuckets.map((bucket) => integerOf(usage[bucket]));
  const rows = Object.entries(usage).flatMap(([bucket, value]): [string, bigint][] => {
    const units = WITHOUT_ROWS.includes(bucket) ? 0n : integerOf(value);
    return units > 0n ? [[bucket, units]] : [];
  });
  return { columns: [...columns, ...firstTokensOf(millisecondsToFirstByte)], rows };
}

const integerOf = (value: unknown): bigint => (Number.isSafeInteger(value) ? BigInt(value as number) : 0n);
