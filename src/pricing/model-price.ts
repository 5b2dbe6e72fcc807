import {
  applyMarkup,
  costOf,
  type Femto,
  type MediaVariant,
  inputTokens,
  type Nano,
  type ObservedUsage,
  type PriceTerms,
  roundMarkedUp,
  toNanoWithMarkup,
  type Usage,
  type UsageBucket,
  withoutPart,
} from "../core/index.ts";
import type { ModelKind } from "./catalog/index.ts";
import { multiplied, type PricedModality, type TableRates, type TieredRate } from "./price-table.ts";

/** The price of one model. */
export interface ModelPrice extends TableRates {
  /** The modalities that the model may be called for at this price. */
  modalities: ReadonlySet<PricedModality>;
  /** Tokens that the model can read and write in one call, if known. */
  contextWindow: number | undefined;
  /** Tokens that the model can write in one answer (of an image model: for one image), if known. */
  maxOutputTokens: number | undefined;
  /** What the model is for, if a catalog lists it. */
  kind?: ModelKind | undefined;
  /** The layer that the price is from: `config`, `catalog` with its address, or `built-in`. */
  source: string;
  /** The operator's factor on every cost, in millionths. The rates are without it. */
  markup: bigint;
  /** The factor on the price of a line of a batch at its provider, in millionths; half by default. */
  batchFactor?: bigint | undefined;
  /** Whether it is another model's: a cost that the upstream reports is not what is charged. */
  isOthers?: boolean | undefined;
}

/** The price of one model for the answers of another one, whose own the limits remain. */
export function soldAt(price: ModelPrice, { contextWindow, maxOutputTokens, kind }: ModelPrice): ModelPrice {
  return { ...price, contextWindow, maxOutputTokens, kind, isOthers: true };
}

/** The price at these terms: of a term without a price, the usual one. */
export function priceAt(price: ModelPrice, { serviceTier, inferenceGeo }: PriceTerms): ModelPrice {
  const tier = serviceTier === undefined ? undefined : price.serviceTiers.get(serviceTier);
  const factor = inferenceGeo === undefined ? undefined : price.inferenceGeos.get(inferenceGeo);
  if (tier === undefined && factor === undefined) return price;
  const rates = tier ?? price.rates;
  return { ...price, rates: factor === undefined ? rates : multiplied(rates, factor) };
}

/** In millionths: every provider with batches sells them at half its prices, unless the operator's configuration differs. */
const BATCH_FACTOR = 500_000n;

/** The price of a line of a batch at the model's provider. */
export function batchPrice(price: ModelPrice): ModelPrice {
  const factor = price.batchFactor ?? BATCH_FACTOR;
  const serviceTiers = new Map([...price.serviceTiers].map(([name, rates]) => [name, multiplied(rates, factor)]));
  return { ...price, rates: multiplied(price.rates, factor), serviceTiers };
}

/** The price of another model of the same provider, by its name; undefined if it has none. */
export type PriceOf = (model: string) => ModelPrice | undefined;

/**
 * The charge for a call's usage, in nano-credits with markup. If the upstream reports a cost, the charge is based on
 * it; the price table applies to upstreams that report only usage. The parts of other models have those models' markups.
 */
export function chargeFor(price: ModelPrice, observed: ObservedUsage, priceOf: PriceOf = () => undefined): Nano {
  const { others, terms, reportedCost } = observed;
  if (reportedCost !== undefined && price.isOthers !== true) return applyMarkup(reportedCost, price.markup);
  const at = terms === undefined ? price : priceAt(price, terms);
  if (others === undefined) return toNanoWithMarkup(listCost(at, observed), at.markup);
  const own = { ...observed, usage: others.map(({ usage }) => usage).reduce(withoutPart, observed.usage) };
  let cost = listCost(at, own) * at.markup;
  for (const { model, usage } of others) {
    const other = priceOf(model);
    const otherAt = other === undefined ? at : priceAt(other, terms ?? {});
    cost += listCost(otherAt, { usage }) * otherAt.markup;
  }
  return roundMarkedUp(cost);
}

/** The same price with another markup, in millionths; unchanged if that is undefined. */
export function withMarkup<Price extends ModelPrice | undefined>(price: Price, markup: bigint | undefined): Price {
  return price === undefined || markup === undefined ? price : { ...price, markup };
}

/**
 * The most that a call within `bound` can cost, in nano-credits with markup: every token at the most expensive tier that
 * the input can reach, every image as `image` or, if the variant is unknown, as the most expensive variant.
 */
export function boundFor(price: ModelPrice, bound: Usage, image?: MediaVariant): Nano {
  const rateOf = image === undefined ? highestRate : orVariant(image, highestRate);
  return toNanoWithMarkup(sum(price, bound, rateOf, inputTokens(bound)), price.markup);
}

function listCost(price: ModelPrice, { usage, variant }: ObservedUsage): Femto {
  return sum(price, usage, variant === undefined ? rateAt : orVariant(variant, rateAt), inputTokens(usage));
}

type RateOf = (rate: TieredRate, tokensIn: number) => Femto;

function sum(price: ModelPrice, usage: Usage, rateOf: RateOf, tokensIn: number): Femto {
  let total = 0n;
  // Rates for more than one unit are those of time, all for an hour; they are added up before they are rounded.
  let ofHours = 0n;
  let hour = 1;
  for (const bucket in usage) {
    // The keys of a usage are buckets.
    const units = usage[bucket as UsageBucket];
    if (units === undefined || units <= 0) continue;
    const rate = price.rates[bucket as UsageBucket];
    const each = rateOf(rate, tokensIn);
    if (each === 0n) continue;
    const cost = costOf(units, each);
    if (rate.per === 1) total += cost;
    else {
      ofHours += cost;
      hour = rate.per;
    }
  }
  return ofHours === 0n ? total : total + (ofHours + BigInt(hour) - 1n) / BigInt(hour);
}

const highestRate: RateOf = ({ base, tiers }, tokensIn) => {
  let most = base;
  for (const { above, rate } of tiers) if (tokensIn > above && rate > most) most = rate;
  return most;
};

const rateAt: RateOf = (rate, tokensIn) => {
  let current = rate.base;
  if (rate.tiers.length === 0) return current;
  for (const tier of rate.tiers) {
    if (tokensIn > tier.above) current = tier.rate;
  }
  return current;
};

const orVariant =
  (image: MediaVariant, rateOf: RateOf): RateOf =>
  (rate, tokensIn) =>
    variantRate(rate, image) ?? rateOf(rate, tokensIn);

/** The rate of a variant: the one for its size and quality, else for its size, else for its quality. */
function variantRate({ variants }: TieredRate, { size = "", quality = "" }: MediaVariant): Femto | undefined {
  if (variants === undefined) return undefined;
  return variants.get(`${size}/${quality}`) ?? variants.get(size) ?? variants.get(quality);
}

/**
 * The bucket whose units cost most at the most expensive tier that so much input can reach, of the first one and others;
 * the first of equals.
 */
export function mostExpensiveOf(
  { rates }: Pick<ModelPrice, "rates">,
  first: UsageBucket,
  others: readonly UsageBucket[] | undefined,
  tokensIn: number,
): UsageBucket {
  if (others === undefined) return first;
  let best = first;
  let most: Femto | undefined;
  for (const bucket of others) {
    most ??= highestRate(rates[first], tokensIn);
    const rate = highestRate(rates[bucket], tokensIn);
    if (rate <= most) continue;
    most = rate;
    best = bucket;
  }
  return best;
}
