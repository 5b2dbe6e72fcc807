import {
  applyMarkup,
  byPriceKey,
  type ByPriceKey,
  creditsNumber,
  type Femto,
  type PriceKey,
  priceKeys,
  priceUnits,
  roundUpToNano,
} from "../core/index.ts";
import type { ModelPrice } from "./model-price.ts";
import type { TieredRate } from "./price-table.ts";

/** A price under the keys of `core/price-units.ts`; undefined if the other keys imply it. */
type QuotedPrice = ByPriceKey<number, number | undefined, number | Record<string, number> | undefined>;

/** Converts a price to the form that callers see: in credits, markup included, at the base tier. */
export function priceQuote({ rates, markup }: ModelPrice): QuotedPrice {
  const amountOf = (key: PriceKey, rate: Femto): number =>
    creditsNumber(applyMarkup(roundUpToNano(rate * ratesInPrice(key)), markup));
  const quoted = quotedKeys(rates);
  const base = (key: PriceKey): number => amountOf(key, rateOf(rates, key).base);
  return byPriceKey({
    always: base,
    plain: (key) => (quoted.has(key) ? base(key) : undefined),
    variants(key) {
      if (!quoted.has(key)) return undefined;
      const { variants } = rateOf(rates, key);
      if (variants === undefined) return base(key);
      return Object.fromEntries([...variants].map(([variant, rate]) => [variant, amountOf(key, rate)]));
    },
  });
}

/**
 * The keys that a quote needs. Looking up a key, or in its absence the first of its fallbacks that is present, must
 * give the charged rate. A key without fallbacks is needed unless its rate is zero.
 */
function quotedKeys(rates: ModelPrice["rates"]): ReadonlySet<PriceKey> {
  const quoted = new Set<PriceKey>();
  for (const key of priceKeys) {
    const { alwaysQuoted, fallbacks = [] } = priceUnits[key];
    const rate = rateOf(rates, key);
    // Fallbacks are in rows above this one, so `quoted` already contains all of them that are needed.
    const nearest = fallbacks.find((fallback) => quoted.has(fallback));
    const differs = nearest === undefined ? rate.highest > 0n : rate.base !== rateOf(rates, nearest).base;
    if (alwaysQuoted === true || differs) quoted.add(key);
  }
  return quoted;
}

function rateOf(rates: ModelPrice["rates"], key: PriceKey): TieredRate {
  return rates[priceUnits[key].bucket];
}

function ratesInPrice(key: PriceKey): bigint {
  const { per, ratePer = 1 } = priceUnits[key];
  return BigInt(per / ratePer);
}
