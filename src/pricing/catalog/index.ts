export { ageText } from "./age.ts";
export { builtInCatalog } from "./built-in.ts";
export { CatalogIndex } from "./catalog-index.ts";
export { catalogJsonSchema } from "./json-schema.ts";
export { builtInLayers, type CatalogLayers, layersOf, type ListedPrice } from "./layers.ts";
export { pricesAt } from "./prices-at.ts";
export {
  type CatalogModel,
  type CatalogRate,
  catalogSchema,
  type ModelKind,
  type PriceCatalog,
  type TimedPrices,
  type Weekday,
  weekdays,
} from "./schema.ts";
