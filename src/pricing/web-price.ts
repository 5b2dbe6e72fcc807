import type { ModelPrice } from "./model-price.ts";
import { type PriceTable, readPriceTable } from "./price-table.ts";

/** The price of work on the web, which needs no model, with a markup in millionths. */
export function webPrice(table: PriceTable, markup: bigint): ModelPrice {
  return {
    ...readPriceTable(table),
    modalities: new Set(),
    contextWindow: undefined,
    maxOutputTokens: undefined,
    source: "config",
    markup,
  };
}
