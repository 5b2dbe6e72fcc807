import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CatalogIndex } from "./catalog-index.ts";
import type { PriceCatalog } from "./schema.ts";

/** The layer of the catalog that is a part of Tollgate. */
const BUILT_IN_LAYER = "built-in";

let index: CatalogIndex | undefined;

/**
 * The built-in catalog; read at the first look-up, so that commands without prices do not wait for it. A test
 * validates the file, so it is not validated again in every process.
 */
export function builtInCatalog(): CatalogIndex {
  index ??= new CatalogIndex(BUILT_IN_LAYER, readBuiltIn());
  return index;
}

function readBuiltIn(): PriceCatalog {
  const path = fileURLToPath(new URL("./catalog.json", import.meta.url));
  return JSON.parse(readFileSync(path, "utf8")) as PriceCatalog;
}
