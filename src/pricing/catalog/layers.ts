import { type CatalogAge, catalogAge } from "./age.ts";
import { byPriceKey, type PriceKey } from "../../core/index.ts";
import type { PriceTable } from "../price-table.ts";
import { builtInCatalog } from "./built-in.ts";
import type { CatalogEntry, CatalogIndex } from "./catalog-index.ts";
import { pricesAt } from "./prices-at.ts";
import type { CatalogPrices, ModelKind } from "./schema.ts";

/** The list price of a model at a moment. */
export interface ListedPrice {
  /** The prices of units that usage counts. */
  table: PriceTable;
  /** All prices, as they are listed. */
  prices: CatalogPrices;
  contextWindow: number | undefined;
  maxOutputTokens: number | undefined;
  /** What the model is for. */
  kind: ModelKind;
  /** The catalog: its address, or `built-in`. */
  layer: string;
  /** The documents or tables that the prices are from. */
  source: string;
  /** The day of the catalog, as YYYY-MM-DD; undefined if it has none. */
  made: string | undefined;
}

/** The catalogs that are in force. */
export interface CatalogLayers {
  /**
   * The list price of a model. A name that a catalog lists wins over one that only extends a listed name by a date;
   * otherwise an upper catalog wins over a lower one.
   */
  find(provider: string, name: string, at: number): ListedPrice | undefined;
  /** The main names of the provider's models in all layers. */
  names(provider: string): string[];
  /** The age of the newest catalog with a date; undefined if none does. */
  age(at: number): CatalogAge | undefined;
}

/** Combines catalogs, the uppermost first. `catalogs` is called at each look-up, since a catalog can be replaced. */
export function layersOf(catalogs: () => readonly CatalogIndex[]): CatalogLayers {
  return {
    find(provider, name, at) {
      const layers = catalogs();
      return (
        firstOf(layers, at, (layer) => layer.listed(provider, name)) ??
        firstOf(layers, at, (layer) => layer.undated(provider, name))
      );
    },
    age: (at) => catalogAge(catalogs(), at),
    names: (provider) => [...new Set(catalogs().flatMap((layer) => layer.models(provider).map(({ name }) => name)))],
  };
}

/** The built-in catalog alone. */
export function builtInLayers(): CatalogLayers {
  return layersOf(() => [builtInCatalog()]);
}

function firstOf(
  layers: readonly CatalogIndex[],
  at: number,
  find: (layer: CatalogIndex) => CatalogEntry | undefined,
): ListedPrice | undefined {
  for (const layer of layers) {
    const entry = find(layer);
    const prices = entry && pricesAt(entry.model, at);
    if (entry === undefined || prices === undefined) continue;
    const { context_window: contextWindow, max_output_tokens: maxOutputTokens, source, kind = "chat" } = entry.model;
    const facts = { contextWindow, maxOutputTokens, kind, source };
    return { table: countedPrices(prices), prices, ...facts, layer: layer.layer, made: layer.made };
  }
  return undefined;
}

/** The prices of units that usage counts, from those of all units. */
function countedPrices(prices: CatalogPrices): PriceTable {
  const priceOf = (key: PriceKey) => prices[key];
  const { service_tiers, inference_geos } = prices;
  const units = byPriceKey({ always: priceOf, plain: priceOf, variants: priceOf });
  // The schema of catalogs does not distinguish the keys that may have variants.
  return { ...units, service_tiers, inference_geos } as PriceTable;
}
