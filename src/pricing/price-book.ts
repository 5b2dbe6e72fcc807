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

/** The operator's price of a model, as in `pricing.models`: it overrides the list price key by key. */
export interface OperatorPrice extends PriceTable {
  readonly context_window?: number | undefined;
  readonly max_output_tokens?: number | undefined;
}

export interface PriceBookOptions {
  /**
   * By model id with prefix; `*` matches any characters. An exact id wins over a glob, an earlier glob over a later
   * one.
   */
  operatorPrices: Readonly<Record<string, OperatorPrice>>;
  /** Whether a model that no layer prices is refused or free. */
  unpriced: "refuse" | "free";
  clock: Clock;
}

/** A model as identified in the price layers. */
export interface PricedModel {
  /** With prefix: the key in the operator's configuration. */
  id: string;
  /** Without prefix. */
  model: string;
  /** The provider's id in genai-prices, if it has one. */
  priceProvider: string | undefined;
}

/** How long a price is cached. Prices change with the date and, at some providers, with the hour. */
const PRICE_AGE_MS_MAX = 60_000;

/** The maximum number of cached prices. Model names come from callers, so the cache must be bounded. */
const CACHED_PRICES_MAX = 5_000;

/** The layers of prices: the operator's configuration first, then our catalog, then genai-prices. */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #cache = new Map<string, { price: ModelPrice | undefined; until: number }>();

  constructor(options: PriceBookOptions) {
    this.#options = options;
  }

  /** Returns the current price, with the modalities that it covers, or undefined if the model may not be called. */
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
    const operatorPrice = this.#operatorPrice(model.id);
    const unpricedIsFree = this.#options.unpriced === "free";
    const table = pricedTable(operatorPrice, listed?.table);
    const modalities = unpricedIsFree ? allModalities : pricedModalities(table);
    if (modalities.size === 0) return undefined;
    return toModelPrice({
      rates: readPriceTable(table),
      modalities,
      contextWindow: operatorPrice.context_window ?? listed?.contextWindow,
      maxOutputTokens: operatorPrice.max_output_tokens ?? listed?.maxOutputTokens,
      source: pricesUsage(operatorPrice) ? "config" : (listed?.source ?? "unpriced"),
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
 * The operator's keys, completed by those of the list price. A price per call is not completed, and neither is a price
 * that makes both input and output free.
 */
function pricedTable(operatorPrice: OperatorPrice, listed: PriceTable | undefined): PriceTable {
  const free = operatorPrice.input_mtok === 0 && operatorPrice.output_mtok === 0;
  if (listed === undefined || free || operatorPrice.requests_kcount !== undefined) return operatorPrice;
  const first = <Key extends PriceKey>(key: Key): PriceTable[Key] => operatorPrice[key] ?? listed[key];
  return byPriceKey({ always: first, plain: first, variants: first });
}

/** A price as a catalog lists it. */
interface ListedPrice extends Omit<ModelPrice, "rates" | "mostExpensive" | "modalities"> {
  table: PriceTable;
}

/**
 * The list price. The catalog prices the models that genai-prices lacks; `@pydantic/genai-prices` prices all others. It
 * resolves names, dates and hours, but its float sums are not used: sums are calculated in integers.
 */
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
  // If a table has only other units, everything else would be free by omission.
  if (!free && !pricesUsage(table)) return undefined;
  return {
    table: free ? { input_mtok: 0, output_mtok: 0 } : table,
    contextWindow: found.model.context_window,
    maxOutputTokens: row?.maxOutputTokens,
    source: "genai-prices",
  };
}
