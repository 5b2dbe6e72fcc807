export { OperatorCatalog } from "./operator-catalog.ts";
export type { CatalogStore, StoredCatalog } from "./store.ts";
