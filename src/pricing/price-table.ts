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
interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices of an image by variant: `size/quality`, a size alone or a quality alone, in the provider's terms. */
type VariantPrices = Readonly<Record<string, number>>;

export type PriceTableValue = number | TieredPrice | VariantPrices;

/** A price as people write it: credits by key, each for the number of units in `core/price-units.ts`. */
export type PriceTable = Readonly<
  Partial<
    Record<Exclude<PriceKey, VariantPriceKey>, number | TieredPrice | undefined> &
      Record<VariantPriceKey, PriceTableValue | undefined>
  >
>;

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
export type PricedModality = "text" | "embeddings" | "images" | "speech" | "transcription";

const byTokens: readonly PriceKey[] = ["input_mtok", "output_mtok"];

/**
 * For each modality, the sets of keys that price it: one complete set is enough. A price per call covers all of them.
 */
const modalityPrices: Record<PricedModality, readonly (readonly PriceKey[])[]> = {
  text: [byTokens],
  embeddings: [["input_mtok"]],
  images: [["image"], byTokens, ["input_mtok", "output_image_mtok"]],
  speech: [["input_mchars"], byTokens, ["input_mtok", "output_audio_mtok"]],
  transcription: [["input_audio_hours"], byTokens, ["input_audio_mtok", "output_mtok"]],
};

const modalities: readonly PricedModality[] = ["text", "embeddings", "images", "speech", "transcription"];

/** All modalities: a free model is priced for each of them. */
export const allModalities: ReadonlySet<PricedModality> = new Set(modalities);

/** The modalities that a table prices completely; an explicit zero is a price. */
export function pricedModalities(table: PriceTable): ReadonlySet<PricedModality> {
  if (table.requests_kcount !== undefined) return allModalities;
  const isPriced = (keys: readonly PriceKey[]): boolean => keys.every((key) => table[key] !== undefined);
  return new Set(modalities.filter((modality) => modalityPrices[modality].some(isPriced)));
}

/** Whether a table prices any unit that usage counts. Pages and hours of connection are not counted. */
export function pricesUsage(table: PriceTable): boolean {
  return priceKeys.some((key) => table[key] !== undefined);
}

/** Converts a table to rates for every bucket. */
export function readPriceTable(table: PriceTable): Record<UsageBucket, TieredRate> {
  return byPricedBucket((key) => {
    const { fallbacks = [], per, ratePer = 1 } = priceUnits[key];
    const nearest = [key, ...fallbacks].find((candidate) => table[candidate] !== undefined);
    return tieredRate(nearest === undefined ? 0 : (table[nearest] ?? 0), per, ratePer);
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
