import { undatedNames } from "./date-suffix.ts";
import type { CatalogModel, PriceCatalog } from "./schema.ts";

/** A model of a catalog, under its main name. */
export interface CatalogEntry {
  name: string;
  model: CatalogModel;
}

/** Finds the models of a catalog by their names. A provider's names are indexed at the first look-up. */
export class CatalogIndex {
  /** The layer that prices from this catalog name as their source. */
  readonly layer: string;
  /** The day on which its prices were read from their sources, as YYYY-MM-DD; undefined if it has none. */
  readonly made: string | undefined;
  readonly #catalog: PriceCatalog;
  readonly #names = new Map<string, ReadonlyMap<string, CatalogEntry>>();

  constructor(layer: string, catalog: PriceCatalog) {
    this.layer = layer;
    this.made = catalog.made;
    this.#catalog = catalog;
  }

  /** The model with this name or alias. */
  listed(provider: string, name: string): CatalogEntry | undefined {
    return this.#namesOf(provider)?.get(name);
  }

  /** The model of which this name is a dated version. */
  undated(provider: string, name: string): CatalogEntry | undefined {
    const names = this.#namesOf(provider);
    for (const undated of undatedNames(name, this.#catalog.providers[provider]?.date_suffixes ?? [])) {
      const entry = names?.get(undated);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  /** All models of a provider. */
  models(provider: string): CatalogEntry[] {
    return Object.entries(this.#catalog.providers[provider]?.models ?? {}).map(([name, model]) => ({ name, model }));
  }

  #namesOf(provider: string): ReadonlyMap<string, CatalogEntry> | undefined {
    const indexed = this.#names.get(provider);
    if (indexed !== undefined || !Object.hasOwn(this.#catalog.providers, provider)) return indexed;
    const names = new Map(
      this.models(provider).flatMap((entry) =>
        [entry.name, ...(entry.model.aliases ?? [])].map((name) => [name, entry] as const),
      ),
    );
    this.#names.set(provider, names);
    return names;
  }
}
