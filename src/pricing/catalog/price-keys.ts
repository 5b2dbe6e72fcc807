import { type PriceKey, priceKeys } from "../../core/index.ts";

/**
 * Keys of units that a catalog prices already, although nothing counts them yet. A key that moves to
 * `core/price-units.ts` is counted from then on, without a change of the catalog.
 */
const comingKeys = [
  "web_searches_kcount",
  "storage_searches_kcount",
  "container_gb",
  "output_video_seconds",
  "input_video_seconds",
  "output_video_mtok",
  "connection_hours",
  "searches_kcount",
  "pages_kcount",
  "maps_kcount",
  "pdf_pages_kcount",
] as const;

export type CatalogPriceKey = PriceKey | (typeof comingKeys)[number];

/** Every key that a price in a catalog can have. */
export const catalogPriceKeys: readonly CatalogPriceKey[] = [...new Set([...priceKeys, ...comingKeys])];
