export { builtInLayers, type CatalogLayers, type ListedPrice } from "./layers.ts";
export { type CatalogPriceKey, catalogPriceKeys } from "./price-keys.ts";
export { pricesAt } from "./prices-at.ts";
export {
  type CatalogModel,
  type CatalogRate,
  catalogSchema,
  type PriceCatalog,
  type TimedPrices,
  type Weekday,
  weekdays,
} from "./schema.ts";
