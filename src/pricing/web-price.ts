import type { ModelPrice } from "./model-price.ts";
import { type PriceTable, readPriceTable } from "./price-table.ts";

/** The price of work on the web, which needs no model. */
export function webPrice(table: PriceTable): ModelPrice {
  return {
    ...readPriceTable(table),
    modalities: new Set(),
    contextWindow: undefined,
    maxOutputTokens: undefined,
    source: "config",
  };
}
