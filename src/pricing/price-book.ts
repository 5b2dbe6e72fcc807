import { byPriceKey, type Clock, matchesGlob, NO_MARKUP, parseMarkup, type PriceKey } from "../core/index.ts";
import { builtInLayers, type CatalogLayers, type ListedPrice } from "./catalog/index.ts";
import type { MarkupOf } from "./markups.ts";
import type { ModelPrice } from "./model-price.ts";
import { type PriceFactorOf, scaledPrices } from "./price-factors.ts";
import { allModalities, type PriceTable, pricesUsage, readPriceTable, pricedModalities } from "./price-table.ts";

/** The operator's price of a model, as in `pricing.models`: it overrides the list price key by key. */
export interface OperatorPrice extends PriceTable {
  readonly context_window?: number | undefined;
  readonly max_output_tokens?: number | undefined;
  readonly batch_factor?: number | undefined;
}

export interface PriceBookOptions {
  /**
   * By model id with prefix; `*` matches any characters. An exact id wins over a glob, an earlier glob over a later
   * one.
   */
  operatorPrices: Readonly<Record<string, OperatorPrice>>;
  /** Whether a model that no layer prices is refused or free. */
  unpriced: "refuse" | "free";
  /** The lists of prices; the built-in one by default. */
  catalogs?: CatalogLayers | undefined;
  /** The operator's factors; none by default. */
  markupOf?: MarkupOf | undefined;
  /** The factors of providers and of places on their prices; none by default. */
  factorOf?: PriceFactorOf | undefined;
  clock: Clock;
}

/** A model as identified in the price layers. */
export interface PricedModel {
  /** With prefix: the key in the operator's configuration. */
  id: string;
  /** Without prefix. */
  model: string;
  /** The provider's id in the price catalogs, if it has one. */
  priceProvider: string | undefined;
}

/** A price as people write it, with its origin. */
export interface PriceDescription {
  prices: Readonly<Record<string, unknown>>;
  /** `config`, `catalog` with its address, or `built-in`. */
  layer: string;
  /** The documents or tables that a list price is from. */
  source: string | undefined;
  /** The day of a list price's catalog, as YYYY-MM-DD, if it has one. */
  made: string | undefined;
}

/** The layer of `pricing.models`. */
const CONFIG_LAYER = "config";

/** How long a price is cached. Prices change with the date and, at some providers, with the hour. */
const PRICE_AGE_MS_MAX = 60_000;

/** The maximum number of cached prices. Model names come from callers, so the cache must be bounded. */
const CACHED_PRICES_MAX = 5_000;

/** The layers of prices: the operator's configuration first, then the operator's catalog, then the built-in one. */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #catalogs: CatalogLayers;
  readonly #cache = new Map<string, { price: ModelPrice | undefined; until: number }>();

  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#catalogs = options.catalogs ?? builtInLayers();
  }

  /** Returns the current price, with the modalities that it covers, or undefined if the model may not be called. */
  lookup(model: PricedModel): ModelPrice | undefined {
    const now = this.#options.clock();
    const cached = this.#cache.get(model.id);
    if (cached !== undefined && cached.until > now) return cached.price;
    if (this.#cache.size >= CACHED_PRICES_MAX) this.#cache.clear();
    const price = this.#find(model, now);
    this.#cache.set(model.id, { price, until: now + PRICE_AGE_MS_MAX });
    return price;
  }

  /** Whether a price names the model itself, not only by a glob: it is known to exist. */
  names(model: PricedModel): boolean {
    const isOwn = Object.hasOwn(this.#options.operatorPrices, model.id);
    return isOwn || this.#listed(model, this.#options.clock()) !== undefined;
  }

  /** The models of a provider that have a name in some layer, without the prefix. */
  namesOf({ prefix, priceProvider }: { prefix: string; priceProvider: string | undefined }): string[] {
    const own = Object.keys(this.#options.operatorPrices)
      .filter((id) => id.startsWith(`${prefix}/`) && !id.includes("*"))
      .map((id) => id.slice(prefix.length + 1));
    return [...new Set([...own, ...(priceProvider === undefined ? [] : this.#catalogs.names(priceProvider))])];
  }

  /** The price in force as people write it, even if it prices nothing that can be called; undefined without a price. */
  describe(model: PricedModel): PriceDescription | undefined {
    const operatorPrice = this.#operatorPrice(model.id);
    const listed = this.#listed(model, this.#options.clock());
    const own = pricesUsage(operatorPrice);
    if (!own && listed === undefined) return undefined;
    const written = own ? { ...pricedTable(operatorPrice, listed?.table) } : (listed?.prices ?? {});
    const prices = scaledPrices(written, this.#factorOf(model));
    const layer = own ? CONFIG_LAYER : (listed?.layer ?? "");
    return { prices, layer, source: listed?.source, made: own ? undefined : listed?.made };
  }

  #listed({ model, priceProvider }: PricedModel, at: number): ListedPrice | undefined {
    return priceProvider === undefined ? undefined : this.#catalogs.find(priceProvider, model, at);
  }

  #find(model: PricedModel, at: number): ModelPrice | undefined {
    const { unpriced, markupOf } = this.#options;
    const listed = this.#listed(model, at);
    const operatorPrice = this.#operatorPrice(model.id);
    const unpricedIsFree = unpriced === "free";
    const table = scaledPrices(pricedTable(operatorPrice, listed?.table), this.#factorOf(model));
    const modalities = unpricedIsFree ? allModalities : pricedModalities(table);
    if (modalities.size === 0) return undefined;
    return {
      ...readPriceTable(table),
      modalities,
      contextWindow: operatorPrice.context_window ?? listed?.contextWindow,
      maxOutputTokens: operatorPrice.max_output_tokens ?? listed?.maxOutputTokens,
      kind: listed?.kind,
      batchFactor: operatorPrice.batch_factor === undefined ? undefined : parseMarkup(operatorPrice.batch_factor),
      source: pricesUsage(operatorPrice) ? CONFIG_LAYER : (listed?.layer ?? "unpriced"),
      markup: markupOf?.(model.id) ?? NO_MARKUP,
    };
  }

  #factorOf({ id, model }: PricedModel): number {
    return this.#options.factorOf?.(id, model) ?? 1;
  }

  #operatorPrice(id: string): OperatorPrice {
    const prices = this.#options.operatorPrices;
    const glob =
      Object.keys(prices).find((key) => key === id) ?? Object.keys(prices).find((key) => matchesGlob(key, id));
    return (glob === undefined ? undefined : prices[glob]) ?? {};
  }
}

/**
 * The operator's keys, completed by those of the list price. A price per call is not completed, and neither is a price
 * that makes both input and output free.
 */
function pricedTable(operatorPrice: OperatorPrice, listed: PriceTable | undefined): PriceTable {
  const free = operatorPrice.input_mtok === 0 && operatorPrice.output_mtok === 0;
  if (listed === undefined || free || operatorPrice.requests_kcount !== undefined) return operatorPrice;
  const first = <Key extends PriceKey>(key: Key): PriceTable[Key] => operatorPrice[key] ?? listed[key];
  return {
    ...byPriceKey({ always: first, plain: first, variants: first }),
    service_tiers: { ...listed.service_tiers, ...operatorPrice.service_tiers },
    inference_geos: { ...listed.inference_geos, ...operatorPrice.inference_geos },
  };
}
