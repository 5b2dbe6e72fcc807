import { calcPrice } from "@pydantic/genai-prices";
import { byPriceKey, type Clock, matchesGlob, type PriceKey } from "../core/index.ts";
import { catalogRow } from "./catalog.ts";
import { type ModelPrice, toModelPrice } from "./model-price.ts";
import {
  allModalities,
  type PriceTable,
  pricesUsage,
  readPriceTable,
  type TieredPrice,
  pricedModalities,
} from "./price-table.ts";

/** The operator's own price of a model, as in `pricing.models`: laid over the list price, key by key. */
export interface OperatorPrice extends PriceTable {
  readonly context_window?: number | undefined;
  readonly max_output_tokens?: number | undefined;
}

export interface PriceBookOptions {
  /** By model id with prefix; `*` stands for any characters. An exact id wins over a glob, an earlier glob over a later. */
  operatorPrices: Readonly<Record<string, OperatorPrice>>;
  /** What becomes of a model that no layer prices. */
  unpriced: "refuse" | "free";
  clock: Clock;
}

/** A model as the price layers know it. */
export interface PricedModel {
  /** With prefix: the key in the operator's config. */
  id: string;
  /** Without prefix. */
  model: string;
  /** The provider's id in genai-prices, where it has one. */
  priceProvider: string | undefined;
}

/** Prices change with the date and, at some providers, the hour: a looked-up one is used no longer than this. */
const PRICE_AGE_MS_MAX = 60_000;

/** Model names come from callers: the cache of looked-up prices must not grow with them. */
const CACHED_PRICES_MAX = 5_000;

/** The layers of prices: the operator's config, over our catalog, over genai-prices. */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #cache = new Map<string, { price: ModelPrice | undefined; until: number }>();

  constructor(options: PriceBookOptions) {
    this.#options = options;
  }

  /** The price in force now, or undefined: then the model may not be called. What it may be called for is in its `works`. */
  lookup(model: PricedModel): ModelPrice | undefined {
    const now = this.#options.clock();
    const cached = this.#cache.get(model.id);
    if (cached !== undefined && cached.until > now) return cached.price;
    if (this.#cache.size >= CACHED_PRICES_MAX) this.#cache.clear();
    const price = this.#find(model, new Date(now));
    this.#cache.set(model.id, { price, until: now + PRICE_AGE_MS_MAX });
    return price;
  }

  #find(model: PricedModel, at: Date): ModelPrice | undefined {
    const listed = listedPrice(model, at);
    const own = this.#operatorPrice(model.id);
    const unpricedIsFree = this.#options.unpriced === "free";
    const table = pricedTable(own, listed?.table);
    const works = unpricedIsFree ? allModalities : pricedModalities(table);
    if (works.size === 0) return undefined;
    return toModelPrice({
      rates: readPriceTable(table),
      works,
      contextWindow: own.context_window ?? listed?.contextWindow,
      maxOutputTokens: own.max_output_tokens ?? listed?.maxOutputTokens,
      source: pricesUsage(own) ? "config" : (listed?.source ?? "unpriced"),
    });
  }

  #operatorPrice(id: string): OperatorPrice {
    const prices = this.#options.operatorPrices;
    const glob =
      Object.keys(prices).find((key) => key === id) ?? Object.keys(prices).find((key) => matchesGlob(key, id));
    return (glob === undefined ? undefined : prices[glob]) ?? {};
  }
}

/**
 * The operator's keys over the list's. A price by the call stands for itself, and so does one that makes both input and
 * output free: the list adds nothing to them.
 */
function pricedTable(own: OperatorPrice, listed: PriceTable | undefined): PriceTable {
  const free = own.input_mtok === 0 && own.output_mtok === 0;
  if (listed === undefined || free || own.requests_kcount !== undefined) return own;
  const nearest = <Key extends PriceKey>(key: Key): PriceTable[Key] => own[key] ?? listed[key];
  return byPriceKey({ always: nearest, plain: nearest, variants: nearest });
}

/** A price as a list has it. */
interface ListedPrice extends Omit<ModelPrice, "rates" | "mostExpensive" | "works"> {
  table: PriceTable;
}

/** The list price: the catalog's for what genai-prices lacks, else by `@pydantic/genai-prices`, which resolves names, dates and hours; the sums are ours, in integers. */
function listedPrice({ model, priceProvider }: PricedModel, at: Date): ListedPrice | undefined {
  if (priceProvider === undefined) return undefined;
  const row = catalogRow(priceProvider, model);
  if (row?.prices !== undefined) {
    const { prices, contextWindow, maxOutputTokens } = row;
    return { table: prices, contextWindow, maxOutputTokens, source: "catalog" };
  }
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { providerId: priceProvider, timestamp: at });
  if (found === null) return undefined;
  const prices = found.model_price;
  const free = Object.keys(prices).length === 0;
  const priceAt = (key: PriceKey): number | TieredPrice | undefined => prices[key];
  const table = byPriceKey({ always: priceAt, plain: priceAt, variants: priceAt });
  // A table of other units alone would make everything else free by omission.
  if (!free && !pricesUsage(table)) return undefined;
  return {
    table: free ? { input_mtok: 0, output_mtok: 0 } : table,
    contextWindow: found.model.context_window,
    maxOutputTokens: row?.maxOutputTokens,
    source: "genai-prices",
  };
}
