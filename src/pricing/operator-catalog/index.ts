export { OperatorCatalog } from "./operator-catalog.ts";
export type { CatalogStore } from "./store.ts";
