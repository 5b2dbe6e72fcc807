import {
  byPricedBucket,
  type Femto,
  parseRate,
  type PriceKey,
  priceKeys,
  priceUnits,
  type UsageBucket,
  type VariantPriceKey,
} from "../core/index.ts";

/** A price that changes for the whole call once its input tokens exceed a tier's start. */
export interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices of an image by variant: `size/quality`, a size alone or a quality alone, in the provider's own words. */
type VariantPrices = Readonly<Record<string, number>>;

export type PriceTableValue = number | TieredPrice | VariantPrices;

/** A price as people write it: credits by key, each for as many units as `core/price-units.ts` says. */
export type PriceTable = Readonly<
  Partial<
    Record<Exclude<PriceKey, VariantPriceKey>, number | TieredPrice | undefined> &
      Record<VariantPriceKey, PriceTableValue | undefined>
  >
>;

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
export type PricedModality = "text" | "embeddings" | "images" | "speech" | "transcription";

const byTokens: readonly PriceKey[] = ["input_mtok", "output_mtok"];

/** For each kind of work the sets of keys of which one, whole, prices it. A price by the call prices all of them. */
const modalityPrices: Record<PricedModality, readonly (readonly PriceKey[])[]> = {
  text: [byTokens],
  embeddings: [["input_mtok"]],
  images: [["image"], byTokens, ["input_mtok", "output_image_mtok"]],
  speech: [["input_mchars"], byTokens, ["input_mtok", "output_audio_mtok"]],
  transcription: [["input_audio_hours"], byTokens, ["input_audio_mtok", "output_mtok"]],
};

const modalities: readonly PricedModality[] = ["text", "embeddings", "images", "speech", "transcription"];

/** All kinds of work: what a model that is free is priced for. */
export const allModalities: ReadonlySet<PricedModality> = new Set(modalities);

/** The kinds of work that a written price leaves no part of unpriced; a zero that is written is a price. */
export function pricedModalities(table: PriceTable): ReadonlySet<PricedModality> {
  if (table.requests_kcount !== undefined) return allModalities;
  const isPriced = (keys: readonly PriceKey[]): boolean => keys.every((key) => table[key] !== undefined);
  return new Set(modalities.filter((work) => modalityPrices[work].some(isPriced)));
}

/** Whether a written price is of anything that a call's usage counts; pages and hours of connection are not. */
export function pricesUsage(table: PriceTable): boolean {
  return priceKeys.some((key) => table[key] !== undefined);
}

/** Turns a written price into rates for every bucket. */
export function readPriceTable(table: PriceTable): Record<UsageBucket, TieredRate> {
  return byPricedBucket((key) => {
    const { fallbacks = [], per, ratePer = 1 } = priceUnits[key];
    const nearest = [key, ...fallbacks].find((candidate) => table[candidate] !== undefined);
    return tieredRate(nearest === undefined ? 0 : (table[nearest] ?? 0), per, ratePer);
  });
}

/** The rate for `ratePer` units at a price for `per` of them. */
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
