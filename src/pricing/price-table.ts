import {
  byPricedBucket,
  type Femto,
  keyOfBucket,
  parseMarkup,
  parseRate,
  type PriceKey,
  priceKeys,
  priceUnits,
  type UsageBucket,
  usageBuckets,
  type VariantPriceKey,
} from "../core/index.ts";

/** A price that changes for the whole call once its input tokens exceed a tier's start. */
interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices of an image by variant: `size/quality`, a size alone or a quality alone, in the provider's terms. */
type VariantPrices = Readonly<Record<string, number>>;

export type PriceTableValue = number | TieredPrice | VariantPrices;

/** Prices by key: credits, each for the number of units in `core/price-units.ts`. */
type UnitPrices = Readonly<
  Partial<
    Record<Exclude<PriceKey, VariantPriceKey>, number | TieredPrice | undefined> &
      Record<VariantPriceKey, PriceTableValue | undefined>
  >
>;

/** A price as people write it. */
export interface PriceTable extends UnitPrices {
  /**
   * The prices of a call with another speed or priority, by the provider's name of it: a factor on all prices but those of
   * hosted tools, or prices that replace some of the model's.
   */
  readonly service_tiers?: Readonly<Record<string, number | UnitPrices>> | undefined;
  /** Factors on all prices but those of hosted tools, by the place that the model runs in. */
  readonly inference_geos?: Readonly<Record<string, number>> | undefined;
}

/** A rate for each bucket. */
export type Rates = Readonly<Record<UsageBucket, TieredRate>>;

/** A price table as rates, with fallbacks applied. */
export interface TableRates {
  rates: Rates;
  /** The rates by the service tier. */
  serviceTiers: ReadonlyMap<string, Rates>;
  /** Factors in millionths, by the place that the model runs in. */
  inferenceGeos: ReadonlyMap<string, bigint>;
  /** The buckets whose own key the table has, be it zero. */
  priced: ReadonlySet<UsageBucket>;
}

/** A rate, and the higher or lower rates that apply to the whole call once its input tokens exceed `above`. */
export interface TieredRate {
  base: Femto;
  tiers: readonly { above: number; rate: Femto }[];
  /** Rates by variant of image. Any other variant is charged as the most expensive one, which is then also the base. */
  variants: ReadonlyMap<string, Femto> | undefined;
  /** The highest of all these rates. */
  highest: Femto;
  /**
   * How many units the rate is for. It is one except for time: few hourly prices are whole femto-credits per
   * millisecond.
   */
  per: number;
}

/** The modalities that a price can cover. A model has no price for a modality that would be free only by omission. */
export type PricedModality =
  | "text"
  | "embeddings"
  | "rerank"
  | "images"
  | "speech"
  | "transcription"
  | "video"
  | "realtime";

const byTokens: readonly PriceKey[] = ["input_mtok", "output_mtok"];

/**
 * For each modality, the sets of keys that price it: one complete set is enough. A price per call covers all of them.
 */
const modalityPrices: Record<PricedModality, readonly (readonly PriceKey[])[]> = {
  text: [byTokens],
  embeddings: [["input_mtok"]],
  rerank: [["search_units_kcount"], ["input_mtok"]],
  images: [["image"], byTokens, ["input_mtok", "output_image_mtok"]],
  speech: [["input_mchars"], byTokens, ["input_mtok", "output_audio_mtok"]],
  video: [["output_video_seconds"], ["output_video_mtok"]],
  realtime: [["connection_hours"], byTokens, ["input_audio_mtok", "output_audio_mtok"]],
  transcription: [["input_audio_hours"], byTokens, ["input_audio_mtok", "output_mtok"]],
};

const modalities: readonly PricedModality[] = [
  "text",
  "embeddings",
  "rerank",
  "images",
  "speech",
  "transcription",
  "video",
  "realtime",
];

/** All modalities: a free model is priced for each of them. */
export const allModalities: ReadonlySet<PricedModality> = new Set(modalities);

/** The modalities that a table prices completely; an explicit zero is a price. */
export function pricedModalities(table: PriceTable): ReadonlySet<PricedModality> {
  if (table.requests_kcount !== undefined) return allModalities;
  const isPriced = (keys: readonly PriceKey[]): boolean => keys.every((key) => table[key] !== undefined);
  return new Set(modalities.filter((modality) => modalityPrices[modality].some(isPriced)));
}

/** Whether a table prices any unit that usage counts. */
export function pricesUsage(table: PriceTable): boolean {
  return priceKeys.some((key) => table[key] !== undefined);
}

/** Converts a table to rates. */
export function readPriceTable(table: PriceTable): TableRates {
  const { service_tiers = {}, inference_geos = {} } = table;
  const rates = ratesOf(table);
  const tierRates = (tier: number | UnitPrices): Rates =>
    typeof tier === "number" ? multiplied(rates, parseMarkup(tier)) : ratesOf({ ...table, ...tier });
  return {
    rates,
    serviceTiers: new Map(Object.entries(service_tiers).map(([name, tier]) => [name, tierRates(tier)])),
    inferenceGeos: new Map(Object.entries(inference_geos).map(([name, factor]) => [name, parseMarkup(factor)])),
    priced: new Set(usageBuckets.filter((bucket) => table[keyOfBucket[bucket]] !== undefined)),
  };
}

function ratesOf(table: UnitPrices): Rates {
  return byPricedBucket((key) => {
    const { per, ratePer = 1 } = priceUnits[key];
    const nearest = keyThatPrices(table, key);
    return tieredRate(nearest === undefined ? 0 : (table[nearest] ?? 0), per, ratePer);
  });
}

/** The key itself, or the nearest of its fallbacks that the table has. */
function keyThatPrices(table: UnitPrices, key: PriceKey): PriceKey | undefined {
  const { fallbacks = [] } = priceUnits[key];
  return [key, ...fallbacks].find((candidate) => table[candidate] !== undefined);
}

/** All rates but those of hosted tools, times a factor in millionths. */
export function multiplied(rates: Rates, millionths: bigint): Rates {
  const times = (rate: Femto): Femto => (rate * millionths + 500_000n) / 1_000_000n;
  return byPricedBucket((key) => {
    const { bucket, isTool } = priceUnits[key];
    const rate = rates[bucket];
    if (isTool === true) return rate;
    return {
      base: times(rate.base),
      tiers: rate.tiers.map((tier) => ({ above: tier.above, rate: times(tier.rate) })),
      variants: rate.variants && new Map([...rate.variants].map(([name, each]) => [name, times(each)])),
      highest: times(rate.highest),
      per: rate.per,
    };
  });
}

/** Converts a price for `per` units to the rate for `ratePer` of them. */
function tieredRate(value: PriceTableValue, per: number, ratePer: number): TieredRate {
  const rate = (price: number): Femto => parseRate(price, per / ratePer);
  if (typeof value === "number") {
    const base = rate(value);
    return { base, tiers: [], variants: undefined, highest: base, per: ratePer };
  }
  if (isTiered(value)) {
    const base = rate(value.base);
    const tiers = value.tiers.map(({ start, price }) => ({ above: start, rate: rate(price) }));
    return {
      base,
      tiers: tiers.toSorted((a, b) => a.above - b.above),
      variants: undefined,
      highest: highestOf([base, ...tiers.map((tier) => tier.rate)]),
      per: ratePer,
    };
  }
  const variants = new Map(Object.entries(value).map(([name, price]) => [name, rate(price)]));
  const highest = highestOf([...variants.values()]);
  return { base: highest, tiers: [], variants, highest, per: ratePer };
}

function isTiered(value: TieredPrice | VariantPrices): value is TieredPrice {
  return Array.isArray(value["tiers"]);
}

function highestOf(rates: readonly Femto[]): Femto {
  return rates.reduce((most, rate) => (rate > most ? rate : most), 0n);
}
