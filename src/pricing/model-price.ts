import {
  applyMarkup,
  costOf,
  type Femto,
  inputTokens,
  type Nano,
  type ObservedUsage,
  parseRate,
  roundUpToNano,
  type Usage,
  type UsageBucket,
} from "../core/index.ts";

/** A rate, and the higher or lower rates that hold for the whole call once its input tokens exceed `above`. */
export interface TieredRate {
  base: Femto;
  tiers: readonly { above: number; rate: Femto }[];
  /** The highest of them. */
  highest: Femto;
}

/** The price of one model: a rate for each bucket, fallbacks already applied. */
export interface ModelPrice {
  rates: Readonly<Record<UsageBucket, TieredRate>>;
  /** Tokens that the model can read and write in one call, where known. */
  contextWindow: number | undefined;
  /** Tokens that the model can write in one call, where known. */
  maxOutputTokens: number | undefined;
  /** Which layer it came from: `config`, `catalog` or `genai-prices`. */
  source: string;
}

/** A price as people write it: credits per million tokens (or per thousand requests), under genai-prices' names. */
export type PriceTable = Readonly<Record<string, PriceTableValue | undefined>>;
export type PriceTableValue = number | { base: number; tiers: readonly { start: number; price: number }[] };

const MTOK = 1_000_000;
const KCOUNT = 1_000;

/**
 * For each bucket the keys that may price it, the first found wins. A bucket without a price of its own is charged as
 * what it is a kind of: reasoning as output, a cached token as input. Nothing is charged as zero by omission.
 */
const keysOfBucket: Record<UsageBucket, { keys: readonly string[]; per: number }> = {
  input: { keys: ["input_mtok"], per: MTOK },
  cacheRead: { keys: ["cache_read_mtok", "input_mtok"], per: MTOK },
  cacheWrite5m: { keys: ["cache_write_mtok", "input_mtok"], per: MTOK },
  cacheWrite1h: { keys: ["cache_write_1h_mtok", "cache_write_mtok", "input_mtok"], per: MTOK },
  inputAudio: { keys: ["input_audio_mtok", "input_mtok"], per: MTOK },
  cacheAudioRead: { keys: ["cache_audio_read_mtok", "input_audio_mtok", "cache_read_mtok", "input_mtok"], per: MTOK },
  output: { keys: ["output_mtok"], per: MTOK },
  reasoning: { keys: ["output_reasoning_mtok", "output_mtok"], per: MTOK },
  outputAudio: { keys: ["output_audio_mtok", "output_mtok"], per: MTOK },
  requests: { keys: ["requests_kcount"], per: KCOUNT },
};

function tieredRate(value: PriceTableValue | undefined, per: number): TieredRate {
  if (value === undefined || typeof value === "number") {
    const base = value === undefined ? 0n : parseRate(value, per);
    return { base, tiers: [], highest: base };
  }
  const base = parseRate(value.base, per);
  const tiers = value.tiers.map(({ start, price }) => ({ above: start, rate: parseRate(price, per) }));
  const highest = tiers.reduce((most, { rate }) => (rate > most ? rate : most), base);
  return { base, tiers: tiers.toSorted((a, b) => a.above - b.above), highest };
}

/** Turns a written price into rates for every bucket. */
export function readPriceTable(table: PriceTable): Record<UsageBucket, TieredRate> {
  const rate = ({ keys, per }: { keys: readonly string[]; per: number }): TieredRate => {
    const key = keys.find((candidate) => table[candidate] !== undefined);
    return tieredRate(key === undefined ? undefined : table[key], per);
  };
  const entries = Object.entries(keysOfBucket).map(([bucket, row]) => [bucket, rate(row)]);
  return Object.fromEntries(entries) as Record<UsageBucket, TieredRate>;
}

/** Whether a written price is of anything that a call's usage counts; hours of audio and pages are not. */
export function pricesUsage(table: PriceTable): boolean {
  return Object.values(keysOfBucket).some(({ keys }) => keys.some((key) => table[key] !== undefined));
}

/**
 * Whether an operator's table prices a call by itself: its input and its output, zero where that is written, or the
 * call as such. Of anything less a part would be free by omission.
 */
export function isComplete(table: PriceTable): boolean {
  return (
    table["requests_kcount"] !== undefined || (table["input_mtok"] !== undefined && table["output_mtok"] !== undefined)
  );
}

function rateAt(rate: TieredRate, tokensIn: number): Femto {
  let current = rate.base;
  for (const tier of rate.tiers) {
    if (tokensIn > tier.above) current = tier.rate;
  }
  return current;
}

function sum(price: ModelPrice, usage: Usage, rateOf: (rate: TieredRate) => Femto): Nano {
  let total = 0n;
  for (const bucket in usage) {
    // What indexes a usage is a bucket.
    const units = usage[bucket as UsageBucket];
    if (units !== undefined && units > 0) total += costOf(units, rateOf(price.rates[bucket as UsageBucket]));
  }
  return roundUpToNano(total);
}

/**
 * What a call costs, in nano-credits with markup. An upstream's own figure, where it reports one, is the base of the
 * charge; the table is for those that report only usage.
 */
export function chargeFor(price: ModelPrice, observed: ObservedUsage, markupMillionths: bigint): Nano {
  const tokensIn = inputTokens(observed.usage);
  const base = observed.reportedCost ?? sum(price, observed.usage, (rate) => rateAt(rate, tokensIn));
  return applyMarkup(base, markupMillionths);
}

/** The most that a call within `bound` can cost, in nano-credits with markup: every token at its dearest tier. */
export function boundFor(price: ModelPrice, bound: Usage, markupMillionths: bigint): Nano {
  return applyMarkup(
    sum(price, bound, ({ highest }) => highest),
    markupMillionths,
  );
}

/** The dearest way to count `tokens` of input: a write to a cache costs more than plain input, and an operator's read may. */
export function dearestInput(price: ModelPrice, tokens: number): Usage {
  return { [dearestOf(price).input]: tokens };
}

/** The dearest way to count `tokens` of output. */
export function dearestOutput(price: ModelPrice, tokens: number): Usage {
  return { [dearestOf(price).output]: tokens };
}

const INPUTS = ["input", "cacheRead", "cacheWrite5m", "cacheWrite1h", "inputAudio", "cacheAudioRead"] as const;
const OUTPUTS = ["output", "reasoning", "outputAudio"] as const;

/** Found once for each price: every call asks. */
const dearestBuckets = new WeakMap<ModelPrice, { input: UsageBucket; output: UsageBucket }>();

function dearestOf(price: ModelPrice): { input: UsageBucket; output: UsageBucket } {
  const known = dearestBuckets.get(price);
  if (known !== undefined) return known;
  const found = { input: dearest(price, "input", INPUTS), output: dearest(price, "output", OUTPUTS) };
  dearestBuckets.set(price, found);
  return found;
}

function dearest({ rates }: ModelPrice, first: UsageBucket, buckets: readonly UsageBucket[]): UsageBucket {
  return buckets.reduce((best, bucket) => (rates[bucket].highest > rates[best].highest ? bucket : best), first);
}
