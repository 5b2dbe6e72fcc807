export { type MarkupOf, markupsOf } from "./markups.ts";
export { priceFactorsOf } from "./price-factors.ts";
export {
  batchPrice,
  boundFor,
  chargeFor,
  mostExpensiveOf,
  priceAt,
  type ModelPrice,
  type PriceOf,
  soldAt,
  withMarkup,
} from "./model-price.ts";
export {
  ageText,
  builtInCatalog,
  builtInLayers,
  catalogJsonSchema,
  type CatalogLayers,
  type CatalogModel,
  type CatalogRate,
  catalogSchema,
  type ModelKind,
  type PriceCatalog,
  pricesAt,
  type TimedPrices,
  type Weekday,
  weekdays,
} from "./catalog/index.ts";
export { type OperatorPrice, PriceBook, type PriceDescription, type PricedModel } from "./price-book.ts";
export { OperatorCatalog } from "./operator-catalog/index.ts";
export { openCatalogStore } from "./sql/open.ts";
export { type PriceSnapshot, priceFrom, snapshotOf } from "./price-snapshot.ts";
export type { PricedModality } from "./price-table.ts";
export { priceQuote } from "./quote.ts";
export { webPrice } from "./web-price.ts";
