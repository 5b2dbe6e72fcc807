import { pricesAt, type CatalogRate, type TimedPrices } from "../../src/pricing/index.ts";
import { scaled } from "./decimals.ts";
import { type Prices, ratesOf } from "./table-row.ts";

/**
 * Writes the prices of a service tier as a factor if each of them is the same multiple of the ordinary one. A factor
 * also holds for prices that begin later, so it is repeated in all tables; other prices only hold today.
 */
export function withFactors(prices: readonly TimedPrices[], at: number): TimedPrices[] {
  const current = pricesAt({ prices: [...prices], source: "" }, at);
  const tiers = current?.service_tiers;
  if (current === undefined || tiers === undefined) return [...prices];
  const found = Object.entries(tiers).map(([name, tier]) => [name, factorOr(tier, current)] as const);
  const factors = Object.fromEntries(found.filter(([, tier]) => typeof tier === "number"));
  return prices.map((table) => {
    const named =
      table === current ? Object.fromEntries(found) : table.service_tiers === undefined ? factors : ownFactors(table);
    return Object.keys(named).length === 0 ? table : { ...table, service_tiers: named };
  });
}

function ownFactors(table: TimedPrices): NonNullable<TimedPrices["service_tiers"]> {
  const tiers = Object.entries(table.service_tiers ?? {});
  return Object.fromEntries(tiers.map(([name, tier]) => [name, factorOr(tier, table)]));
}

function factorOr(tier: number | Prices, prices: TimedPrices): number | Prices {
  if (typeof tier === "number") return tier;
  const own = new Map<string, CatalogRate>(ratesOf(tier));
  const tokens = ratesOf(prices).filter(([key]) => key.endsWith("_mtok"));
  const factors = tokens.map(([key, rate]) => factorBetween(rate, own.get(key)));
  const [first] = factors;
  return first !== undefined && factors.every((factor) => factor === first) ? first : tier;
}

/** Factors have six decimals. */
const FACTOR_DIGITS = 6;

/** The exact factor between two rates with the same thresholds; undefined if there is none. */
function factorBetween(ordinary: CatalogRate, tier: CatalogRate | undefined): number | undefined {
  if (tier === undefined) return undefined;
  const [from, to] = [numbersOf(ordinary), numbersOf(tier)];
  const [ordinaryPrice = 0] = from;
  const factor = Number(((to[0] ?? 0) / ordinaryPrice).toPrecision(FACTOR_DIGITS));
  // A factor that had to be rounded, as 5/3, would charge a little more or less than the listed prices.
  const isExact = from.every((price, index) => scaled(price * factor, 0) === to[index]);
  return from.length === to.length && isExact && Number.isFinite(factor) && factor > 0 ? factor : undefined;
}

function numbersOf(rate: CatalogRate): number[] {
  if (typeof rate === "number") return [rate];
  if (!Array.isArray(rate["tiers"])) return [];
  const { base, tiers } = rate as { base: number; tiers: { price: number }[] };
  return [base, ...tiers.map(({ price }) => price)];
}
