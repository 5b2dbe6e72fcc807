import { type PriceKey, priceKeys } from "../../src/core/index.ts";
import type { CatalogModel, CatalogRate, TimedPrices } from "../../src/pricing/index.ts";

/** Prices by key, as one of the published tables or a correction states them. */
export type Prices = Omit<TimedPrices, "from" | "daily" | "days">;

/** The row of a published table for one name of a model. */
export interface TableRow {
  kind?: CatalogModel["kind"];
  contextWindow?: number;
  maxOutputTokens?: number;
  reasoning?: true;
  /** Several if they depend on the time of the call; the last one that applies counts. */
  prices: TimedPrices[];
  /** The table's own name of the model, if it has several names in one row. */
  model?: string;
  /** The provider's document that the table refers to, if it does. */
  document?: string;
}

/** The rows of a table: provider → name → row. */
export type PublishedTable = ReadonlyMap<string, ReadonlyMap<string, TableRow>>;

/** The rates in a table of prices, without its conditions and factors. */
export function ratesOf(prices: TimedPrices): [key: PriceKey, rate: CatalogRate][] {
  return priceKeys.flatMap((key): [PriceKey, CatalogRate][] => {
    const rate = prices[key];
    return rate === undefined ? [] : [[key, rate]];
  });
}
