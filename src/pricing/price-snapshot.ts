import { type UsageBucket, usageBuckets } from "../core/index.ts";
import { type ModelPrice, toModelPrice } from "./model-price.ts";
import { allModalities, type TieredRate } from "./price-table.ts";

/** A rate as plain JSON; femto-credits as decimal digits. */
interface RateSnapshot {
  base: string;
  tiers?: { above: number; rate: string }[];
  variants?: [name: string, rate: string][];
  highest: string;
  per: number;
}

/** A model's price as plain JSON, for work that is charged long after it was ordered. Free buckets are omitted. */
export interface PriceSnapshot {
  rates: Partial<Record<UsageBucket, RateSnapshot>>;
  contextWindow?: number;
  maxOutputTokens?: number;
  source: string;
}

export function snapshotOf({ rates, contextWindow, maxOutputTokens, source }: ModelPrice): PriceSnapshot {
  const snapshot: PriceSnapshot = { rates: {}, source };
  for (const bucket of usageBuckets) {
    const rate = rates[bucket];
    if (rate.highest > 0n) snapshot.rates[bucket] = rateSnapshotOf(rate);
  }
  if (contextWindow !== undefined) snapshot.contextWindow = contextWindow;
  if (maxOutputTokens !== undefined) snapshot.maxOutputTokens = maxOutputTokens;
  return snapshot;
}

/** Restores a price from its snapshot. The work was ordered already, so all modalities are allowed. */
export function priceFrom({ rates: snapshot, contextWindow, maxOutputTokens, source }: PriceSnapshot): ModelPrice {
  const entries = usageBuckets.map((bucket) => [bucket, rateFrom(snapshot[bucket])]);
  return toModelPrice({
    rates: Object.fromEntries(entries) as Record<UsageBucket, TieredRate>,
    modalities: allModalities,
    contextWindow,
    maxOutputTokens,
    source,
  });
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
