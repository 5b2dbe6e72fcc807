import {
  applyMarkup,
  costOf,
  type Femto,
  type ImageVariant,
  inputBuckets,
  inputTokens,
  type Nano,
  type ObservedUsage,
  outputBuckets,
  roundUpToNano,
  type Usage,
  type UsageBucket,
} from "../core/index.ts";
import type { TieredRate, PricedModality } from "./price-table.ts";

/** The price of one model: a rate for each bucket, fallbacks already applied. */
export interface ModelPrice {
  rates: Readonly<Record<UsageBucket, TieredRate>>;
  /** The buckets of input and output tokens that cost most: a write to a cache may cost more than plain input. */
  mostExpensive: { input: UsageBucket; output: UsageBucket };
  /** What the model may be asked for at this price. */
  works: ReadonlySet<PricedModality>;
  /** Tokens that the model can read and write in one call, where known. */
  contextWindow: number | undefined;
  /** Tokens that the model can write in one answer (of an image model: for one image), where known. */
  maxOutputTokens: number | undefined;
  /** Which layer it came from: `config`, `catalog` or `genai-prices`. */
  source: string;
}

/**
 * What a call costs, in nano-credits with markup. An upstream's own figure, where it reports one, is the base of the
 * charge; the table is for those that report only usage.
 */
export function chargeFor(price: ModelPrice, observed: ObservedUsage, markupMillionths: bigint): Nano {
  return applyMarkup(observed.reportedCost ?? listCost(price, observed), markupMillionths);
}

/**
 * The most that a call within `bound` can cost, in nano-credits with markup: every token at its dearest tier, every
 * image as the variant that is sure to come or, where none is, as the dearest.
 */
export function boundFor(price: ModelPrice, bound: Usage, markupMillionths: bigint, image?: ImageVariant): Nano {
  const rateOf = image === undefined ? highestRate : orVariant(image, highestRate);
  return applyMarkup(sum(price, bound, rateOf, 0), markupMillionths);
}

function listCost(price: ModelPrice, { usage, image }: ObservedUsage): Nano {
  return sum(price, usage, image === undefined ? rateAt : orVariant(image, rateAt), inputTokens(usage));
}

type RateOf = (rate: TieredRate, tokensIn: number) => Femto;

function sum(price: ModelPrice, usage: Usage, rateOf: RateOf, tokensIn: number): Nano {
  let total = 0n;
  for (const bucket in usage) {
    // What indexes a usage is a bucket.
    const units = usage[bucket as UsageBucket];
    if (units === undefined || units <= 0) continue;
    const rate = price.rates[bucket as UsageBucket];
    const each = rateOf(rate, tokensIn);
    if (each === 0n) continue;
    const cost = costOf(units, each);
    // Rounding up twice is rounding up once, as long as only one bucket's rate is for more than one unit.
    total += rate.per === 1 ? cost : dividedUp(cost, BigInt(rate.per));
  }
  return roundUpToNano(total);
}

function dividedUp(cost: Femto, per: bigint): Femto {
  return (cost + per - 1n) / per;
}

const highestRate: RateOf = (rate) => rate.highest;

const rateAt: RateOf = (rate, tokensIn) => {
  let current = rate.base;
  if (rate.tiers.length === 0) return current;
  for (const tier of rate.tiers) {
    if (tokensIn > tier.above) current = tier.rate;
  }
  return current;
};

const orVariant =
  (image: ImageVariant, rateOf: RateOf): RateOf =>
  (rate, tokensIn) =>
    variantRate(rate, image) ?? rateOf(rate, tokensIn);

/** The rate of a variant: by its size and quality, else by its size, else by its quality. */
function variantRate({ variants }: TieredRate, { size = "", quality = "" }: ImageVariant): Femto | undefined {
  if (variants === undefined) return undefined;
  return variants.get(`${size}/${quality}`) ?? variants.get(size) ?? variants.get(quality);
}

/** The most expensive way to count `tokens` of input. */
export function mostExpensiveInput({ mostExpensive }: ModelPrice, tokens: number): Usage {
  return { [mostExpensive.input]: tokens };
}

/** The most expensive way to count `tokens` of output. */
export function mostExpensiveOutput({ mostExpensive }: ModelPrice, tokens: number): Usage {
  return { [mostExpensive.output]: tokens };
}

/** Adds to a price what every call asks of it. */
export function toModelPrice(price: Omit<ModelPrice, "mostExpensive">): ModelPrice {
  const { rates } = price;
  const highest = (buckets: readonly UsageBucket[], first: UsageBucket): UsageBucket =>
    buckets.reduce((best, bucket) => (rates[bucket].highest > rates[best].highest ? bucket : best), first);
  const mostExpensive = { input: highest(inputBuckets, "input"), output: highest(outputBuckets, "output") };
  return { ...price, mostExpensive };
}
