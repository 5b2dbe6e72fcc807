import { type Femto, parseRate, type UsageBucket } from "../core/index.ts";

/** A price that changes for the whole call once its input tokens exceed a tier's start. */
export interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices of an image by variant: `size/quality`, a size alone or a quality alone, in the provider's own words. */
export type VariantPrices = Readonly<Record<string, number>>;

export type PriceTableValue = number | TieredPrice | VariantPrices;

/**
 * A price as people write it, under genai-prices' names where it has them: credits per million tokens (`_mtok`) or
 * characters (`_mchars`), per thousand calls (`_kcount`), per hour of audio (`_hours`), per image (`image`, `input_image`).
 */
export type PriceTable = Readonly<Record<string, PriceTableValue | undefined>>;

/** A rate, and the higher or lower rates that hold for the whole call once its input tokens exceed `above`. */
export interface TieredRate {
  base: Femto;
  tiers: readonly { above: number; rate: Femto }[];
  /** Rates by variant of image. What is none of them is charged as the dearest, which is then the base. */
  variants: ReadonlyMap<string, Femto> | undefined;
  /** The highest of them. */
  highest: Femto;
  /** How many units the rate is for: one, but for time, since few prices of an hour make whole femto-credits a millisecond. */
  per: number;
}

/** The kinds of work that a price can be of. A model has no price for work that it would do for nothing by omission. */
export type Work = "text" | "embeddings" | "images" | "speech" | "transcription";

const MTOK = 1_000_000;
const KCOUNT = 1_000;
const HOUR_MS = 3_600_000;

interface BucketPrice {
  /** The keys that may price the bucket, the first found wins. */
  keys: readonly string[];
  /** How many units the price is for. */
  priceOf: number;
  /** How many units the rate is for. */
  rateOf: number;
}

const tokens = (...keys: string[]): BucketPrice => ({ keys, priceOf: MTOK, rateOf: 1 });

/**
 * A bucket without a price of its own is charged as what it is a kind of: reasoning as output, a cached token as input.
 * No token is charged as zero by omission.
 */
const bucketPrices: Record<UsageBucket, BucketPrice> = {
  input: tokens("input_mtok"),
  cacheRead: tokens("cache_read_mtok", "input_mtok"),
  cacheWrite5m: tokens("cache_write_mtok", "input_mtok"),
  cacheWrite1h: tokens("cache_write_1h_mtok", "cache_write_mtok", "input_mtok"),
  inputAudio: tokens("input_audio_mtok", "input_mtok"),
  cacheAudioRead: tokens("cache_audio_read_mtok", "input_audio_mtok", "cache_read_mtok", "input_mtok"),
  inputImage: tokens("input_image_mtok", "input_mtok"),
  cacheImageRead: tokens("cache_image_read_mtok", "input_image_mtok", "cache_read_mtok", "input_mtok"),
  output: tokens("output_mtok"),
  reasoning: tokens("output_reasoning_mtok", "output_mtok"),
  outputAudio: tokens("output_audio_mtok", "output_mtok"),
  outputImage: tokens("output_image_mtok", "output_mtok"),
  images: { keys: ["image"], priceOf: 1, rateOf: 1 },
  inputImages: { keys: ["input_image"], priceOf: 1, rateOf: 1 },
  inputCharacters: { keys: ["input_mchars"], priceOf: MTOK, rateOf: 1 },
  // Not `audio_hours`, which alone is the price of a connection that is open for so long.
  inputAudioMs: { keys: ["input_audio_hours"], priceOf: HOUR_MS, rateOf: HOUR_MS },
  requests: { keys: ["requests_kcount"], priceOf: KCOUNT, rateOf: 1 },
};

const byTokens = ["input_mtok", "output_mtok"];

/** For each kind of work the sets of keys of which one, whole, prices it. A price by the call prices all of them. */
const workPrices: Record<Work, readonly (readonly string[])[]> = {
  text: [byTokens],
  embeddings: [["input_mtok"]],
  images: [["image"], byTokens, ["input_mtok", "output_image_mtok"]],
  speech: [["input_mchars"], byTokens, ["input_mtok", "output_audio_mtok"]],
  transcription: [["input_audio_hours"], byTokens, ["input_audio_mtok", "output_mtok"]],
};

const works: readonly Work[] = ["text", "embeddings", "images", "speech", "transcription"];

/** All kinds of work: what a model that is free is priced for. */
export const everyWork: ReadonlySet<Work> = new Set(works);

/** The kinds of work that a written price leaves no part of unpriced; a zero that is written is a price. */
export function worksOf(table: PriceTable): ReadonlySet<Work> {
  if (table["requests_kcount"] !== undefined) return everyWork;
  const isPriced = (keys: readonly string[]): boolean => keys.every((key) => table[key] !== undefined);
  return new Set(works.filter((work) => workPrices[work].some(isPriced)));
}

/** Whether a written price is of anything that a call's usage counts; pages and hours of connection are not. */
export function pricesUsage(table: PriceTable): boolean {
  return Object.values(bucketPrices).some(({ keys }) => keys.some((key) => table[key] !== undefined));
}

/** Turns a written price into rates for every bucket. */
export function readPriceTable(table: PriceTable): Record<UsageBucket, TieredRate> {
  const rate = (bucket: BucketPrice): TieredRate => {
    const key = bucket.keys.find((candidate) => table[candidate] !== undefined);
    return tieredRate(key === undefined ? 0 : (table[key] ?? 0), bucket);
  };
  const entries = Object.entries(bucketPrices).map(([bucket, price]) => [bucket, rate(price)]);
  return Object.fromEntries(entries) as Record<UsageBucket, TieredRate>;
}

function tieredRate(value: PriceTableValue, { priceOf, rateOf }: BucketPrice): TieredRate {
  const rate = (price: number): Femto => parseRate(price, priceOf / rateOf);
  if (typeof value === "number") {
    const base = rate(value);
    return { base, tiers: [], variants: undefined, highest: base, per: rateOf };
  }
  if (isTiered(value)) {
    const base = rate(value.base);
    const tiers = value.tiers.map(({ start, price }) => ({ above: start, rate: rate(price) }));
    return {
      base,
      tiers: tiers.toSorted((a, b) => a.above - b.above),
      variants: undefined,
      highest: highestOf([base, ...tiers.map((tier) => tier.rate)]),
      per: rateOf,
    };
  }
  const variants = new Map(Object.entries(value).map(([name, price]) => [name, rate(price)]));
  const highest = highestOf([...variants.values()]);
  return { base: highest, tiers: [], variants, highest, per: rateOf };
}

function isTiered(value: TieredPrice | VariantPrices): value is TieredPrice {
  return Array.isArray(value["tiers"]);
}

function highestOf(rates: readonly Femto[]): Femto {
  return rates.reduce((most, rate) => (rate > most ? rate : most), 0n);
}
