import { NO_MARKUP, type UsageBucket, usageBuckets } from "../core/index.ts";
import type { ModelPrice } from "./model-price.ts";
import { allModalities, type Rates, type TieredRate } from "./price-table.ts";

/** A rate as plain JSON; femto-credits as decimal digits. */
interface RateSnapshot {
  base: string;
  tiers?: { above: number; rate: string }[];
  variants?: [name: string, rate: string][];
  highest: string;
  per: number;
}

/** Rates as plain JSON. Free buckets are omitted. */
type RatesSnapshot = Partial<Record<UsageBucket, RateSnapshot>>;

/** A model's price as plain JSON, for work that is charged long after it was ordered. */
export interface PriceSnapshot {
  rates: RatesSnapshot;
  /** By name; absent of a price without service tiers, and of work of an older version. */
  serviceTiers?: Readonly<Record<string, RatesSnapshot>>;
  /** Factors in millionths, as decimal digits. */
  inferenceGeos?: Readonly<Record<string, string>>;
  contextWindow?: number;
  maxOutputTokens?: number;
  source: string;
  /** In millionths, as decimal digits; absent of work of an older version. */
  markup?: string;
  isOthers?: boolean;
}

export function snapshotOf(price: ModelPrice): PriceSnapshot {
  const { rates, serviceTiers, inferenceGeos, contextWindow, maxOutputTokens, source, markup } = price;
  const snapshot: PriceSnapshot = { rates: ratesSnapshotOf(rates), source, markup: String(markup) };
  if (serviceTiers.size > 0) {
    snapshot.serviceTiers = Object.fromEntries([...serviceTiers].map(([name, tier]) => [name, ratesSnapshotOf(tier)]));
  }
  if (inferenceGeos.size > 0) {
    snapshot.inferenceGeos = Object.fromEntries([...inferenceGeos].map(([name, factor]) => [name, String(factor)]));
  }
  if (contextWindow !== undefined) snapshot.contextWindow = contextWindow;
  if (maxOutputTokens !== undefined) snapshot.maxOutputTokens = maxOutputTokens;
  if (price.isOthers === true) snapshot.isOthers = true;
  return snapshot;
}

/** Restores a price from its snapshot. The work was ordered already, so all modalities are allowed. */
export function priceFrom(snapshot: PriceSnapshot): ModelPrice {
  const { rates, serviceTiers = {}, inferenceGeos = {}, contextWindow, maxOutputTokens, source, markup } = snapshot;
  return {
    rates: ratesFrom(rates),
    serviceTiers: new Map(Object.entries(serviceTiers).map(([name, tier]) => [name, ratesFrom(tier)])),
    inferenceGeos: new Map(Object.entries(inferenceGeos).map(([name, factor]) => [name, BigInt(factor)])),
    priced: new Set(usageBuckets),
    modalities: allModalities,
    contextWindow,
    maxOutputTokens,
    source,
    markup: markup === undefined ? NO_MARKUP : BigInt(markup),
    isOthers: snapshot.isOthers,
  };
}

function ratesSnapshotOf(rates: Rates): RatesSnapshot {
  const snapshot: RatesSnapshot = {};
  for (const bucket of usageBuckets) {
    const rate = rates[bucket];
    if (rate.highest > 0n) snapshot[bucket] = rateSnapshotOf(rate);
  }
  return snapshot;
}

function ratesFrom(snapshot: RatesSnapshot): Rates {
  const entries = usageBuckets.map((bucket) => [bucket, rateFrom(snapshot[bucket])]);
  return Object.fromEntries(entries) as Record<UsageBucket, TieredRate>;
}

function rateSnapshotOf({ base, tiers, variants, highest, per }: TieredRate): RateSnapshot {
  return {
    base: String(base),
    ...(tiers.length === 0 ? {} : { tiers: tiers.map(({ above, rate }) => ({ above, rate: String(rate) })) }),
    ...(variants === undefined ? {} : { variants: [...variants].map(([name, rate]) => [name, String(rate)]) }),
    highest: String(highest),
    per,
  };
}

function rateFrom(snapshot: RateSnapshot | undefined): TieredRate {
  if (snapshot === undefined) return { base: 0n, tiers: [], variants: undefined, highest: 0n, per: 1 };
  const { base, tiers = [], variants, highest, per } = snapshot;
  return {
    base: BigInt(base),
    tiers: tiers.map(({ above, rate }) => ({ above, rate: BigInt(rate) })),
    variants: variants && new Map(variants.map(([name, rate]) => [name, BigInt(rate)])),
    highest: BigInt(highest),
    per,
  };
}
