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
  toNanoWithMarkup,
  type Usage,
  type UsageBucket,
  withoutPart,
} from "../core/index.ts";
import type { TieredRate, PricedModality } from "./price-table.ts";

/** The price of one model: a rate for each bucket, with fallbacks applied. */
export interface ModelPrice {
  rates: Readonly<Record<UsageBucket, TieredRate>>;
  /** The buckets whose input and output tokens cost most: a cache write may cost more than plain input. */
  mostExpensive: { input: UsageBucket; output: UsageBucket };
  /** The modalities that the model may be called for at this price. */
  modalities: ReadonlySet<PricedModality>;
  /** Tokens that the model can read and write in one call, if known. */
  contextWindow: number | undefined;
  /** Tokens that the model can write in one answer (of an image model: for one image), if known. */
  maxOutputTokens: number | undefined;
  /** The layer that the price is from: `config`, `catalog` with its address, or `built-in`. */
  source: string;
}

/** The price of another model of the same provider, by its name; undefined if it has none. */
export type PriceOf = (model: string) => ModelPrice | undefined;

/**
 * The charge for a call's usage, in nano-credits with markup. If the upstream reports a cost, the charge is based on
 * it; the price table applies to upstreams that report only usage.
 */
export function chargeFor(
  price: ModelPrice,
  observed: ObservedUsage,
  markupMillionths: bigint,
  priceOf: PriceOf = () => undefined,
): Nano {
  if (observed.reportedCost !== undefined) return applyMarkup(observed.reportedCost, markupMillionths);
  const { others } = observed;
  if (others === undefined) return toNanoWithMarkup(listCost(price, observed), markupMillionths);
  const own = { ...observed, usage: others.map(({ usage }) => usage).reduce(withoutPart, observed.usage) };
  let cost = listCost(price, own);
  for (const { model, usage } of others) cost += listCost(priceOf(model) ?? price, { usage });
  return toNanoWithMarkup(cost, markupMillionths);
}

/**
 * The most that a call within `bound` can cost, in nano-credits with markup: every token at its most expensive tier,
 * every image as `image` or, if the variant is unknown, as the most expensive variant.
 */
export function boundFor(price: ModelPrice, bound: Usage, markupMillionths: bigint, image?: ImageVariant): Nano {
  const rateOf = image === undefined ? highestRate : orVariant(image, highestRate);
  return toNanoWithMarkup(sum(price, bound, rateOf, 0), markupMillionths);
}

function listCost(price: ModelPrice, { usage, image }: ObservedUsage): Femto {
  return sum(price, usage, image === undefined ? rateAt : orVariant(image, rateAt), inputTokens(usage));
}

type RateOf = (rate: TieredRate, tokensIn: number) => Femto;

function sum(price: ModelPrice, usage: Usage, rateOf: RateOf, tokensIn: number): Femto {
  let total = 0n;
  for (const bucket in usage) {
    // The keys of a usage are buckets.
    const units = usage[bucket as UsageBucket];
    if (units === undefined || units <= 0) continue;
    const rate = price.rates[bucket as UsageBucket];
    const each = rateOf(rate, tokensIn);
    if (each === 0n) continue;
    const cost = costOf(units, each);
    // Rounding up here and at the end is the same as rounding up once, as long as only one bucket has `per` above one.
    total += rate.per === 1 ? cost : divideRoundingUp(cost, BigInt(rate.per));
  }
  return total;
}

function divideRoundingUp(cost: Femto, per: bigint): Femto {
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

/** The rate of a variant: the one for its size and quality, else for its size, else for its quality. */
function variantRate({ variants }: TieredRate, { size = "", quality = "" }: ImageVariant): Femto | undefined {
  if (variants === undefined) return undefined;
  return variants.get(`${size}/${quality}`) ?? variants.get(size) ?? variants.get(quality);
}

/** Usage that counts `tokens` of input in their most expensive bucket. */
export function mostExpensiveInput({ mostExpensive }: ModelPrice, tokens: number): Usage {
  return { [mostExpensive.input]: tokens };
}

/** Usage that counts `tokens` of output in their most expensive bucket. */
export function mostExpensiveOutput({ mostExpensive }: ModelPrice, tokens: number): Usage {
  return { [mostExpensive.output]: tokens };
}

/** Completes a price with its most expensive buckets, which every call needs. */
export function toModelPrice(price: Omit<ModelPrice, "mostExpensive">): ModelPrice {
  const { rates } = price;
  const highest = (buckets: readonly UsageBucket[], first: UsageBucket): UsageBucket =>
    buckets.reduce((best, bucket) => (rates[bucket].highest > rates[best].highest ? bucket : best), first);
  const mostExpensive = { input: highest(inputBuckets, "input"), output: highest(outputBuckets, "output") };
  return { ...price, mostExpensive };
}
