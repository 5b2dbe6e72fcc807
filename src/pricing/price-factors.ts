import { listOf, objectOf, prefixOf } from "../core/index.ts";

/** The factor on all prices of a model, by its id with prefix and its name without. */
export type PriceFactorOf = (id: string, model: string) => number;

/** A provider as far as its prices depend on the place of its upstream. */
interface PlacedProvider {
  baseUrl: string;
  /** The operator's own factor, which replaces that of the place. */
  priceFactor: number | undefined;
}

/** Hosts that process requests in a region, and the factor that their provider puts on its list prices there. */
interface RegionalHosts {
  hosts: RegExp;
  factor: number;
  /** The models with the factor. */
  models: RegExp;
}

const regions: readonly RegionalHosts[] = [
  {
    // A tenth more "for models released on or after March 5, 2026" (developers.openai.com, "Data residency").
    hosts: /^(?:au|eu|in|jp|us)\.api\.openai\.com$/,
    factor: 1.1,
    models:
      /^(?:ft:)?(?:gpt-5[.-][4-9]|gpt-[6-9]|gpt-image-[2-9]|gpt-realtime-[2-9]|daybreak|gpt-daybreak|chat-latest)/,
  },
];

/** Reads the factors of all providers, by their prefixes. */
export function priceFactorsOf(providers: Readonly<Record<string, PlacedProvider>>): PriceFactorOf {
  const places = new Map(
    Object.entries(providers).map(([prefix, { baseUrl, priceFactor }]) => {
      const { hostname } = new URL(baseUrl);
      return [prefix, { priceFactor, region: regions.find(({ hosts }) => hosts.test(hostname)) }] as const;
    }),
  );
  return (id, model) => {
    const place = places.get(prefixOf(id));
    if (place?.priceFactor !== undefined) return place.priceFactor;
    return place?.region?.models.test(model) === true ? place.region.factor : 1;
  };
}

/** Prices as people write them, times a factor. The factors of service tiers and places apply to them as before. */
export function scaledPrices<Prices extends object>(prices: Prices, factor: number): Prices {
  if (factor === 1) return prices;
  const scaled = Object.entries(prices).map(([key, value]: [string, unknown]): [string, unknown] => {
    if (key === "inference_geos") return [key, value];
    return [key, key === "service_tiers" ? scaledTiers(value, factor) : scaledPrice(value, factor)];
  });
  return Object.fromEntries(scaled) as Prices;
}

function scaledTiers(tiers: unknown, factor: number): Record<string, unknown> {
  const entries = Object.entries(objectOf(tiers) ?? {});
  return Object.fromEntries(
    entries.map(([name, tier]) => [name, typeof tier === "number" ? tier : scaledPrices(objectOf(tier) ?? {}, factor)]),
  );
}

/** A price, its tiers, or its variants; anything else stays. */
function scaledPrice(value: unknown, factor: number): unknown {
  // Twelve digits, without the noise of binary fractions.
  if (typeof value === "number") return Number((value * factor).toPrecision(12));
  const members = objectOf(value);
  if (members === undefined) return value;
  const scaled = Object.entries(members).map(([key, each]): [string, unknown] => {
    if (key !== "tiers") return [key, scaledPrice(each, factor)];
    const tiers = listOf(each).map((tier) => ({
      ...objectOf(tier),
      price: scaledPrice(objectOf(tier)?.["price"], factor),
    }));
    return [key, tiers];
  });
  return Object.fromEntries(scaled);
}
