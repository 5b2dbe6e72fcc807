import { pricesAt, type CatalogModel, type CatalogRate, type TimedPrices } from "../../src/pricing/index.ts";
import { matchesGlob, type PriceKey, priceKeys, priceUnits } from "../../src/core/index.ts";
import type { Correction, ProviderCorrections } from "./corrections/index.ts";
import { withLongWrites } from "./long-writes.ts";
import { withFactors } from "./service-tiers.ts";
import { type Prices, ratesOf, type TableRow } from "./table-row.ts";

/** Two tables that state different prices for a model. */
export interface Disagreement {
  provider: string;
  name: string;
  key: string;
  litellm: CatalogRate | undefined;
  genaiPrices: CatalogRate | undefined;
  decidedBy: "litellm" | "correction";
}

/** A model under one of its names, as the catalog will list it. */
export type NamedModel = Omit<CatalogModel, "aliases">;

export interface Merged {
  models: Map<string, NamedModel>;
  disagreements: Disagreement[];
  /** Names that a source lists without any price that can be trusted. */
  unpriced: string[];
}

export interface ProviderSources {
  provider: string;
  litellm: ReadonlyMap<string, TableRow>;
  genaiPrices: ReadonlyMap<string, TableRow>;
  corrections: ProviderCorrections;
  /** When prices are compared, in milliseconds since the epoch. */
  at: number;
}

/**
 * Combines the rows of each name. A correction decides. If the tables disagree, LiteLLM's row decides, which names the
 * provider's page and was the newer one in most cases. If they agree, genai-prices' row contributes its dates and hours.
 */
export function mergeProvider(sources: ProviderSources): Merged {
  const { litellm, genaiPrices, corrections } = sources;
  const names = new Set([
    ...litellm.keys(),
    ...genaiPrices.keys(),
    ...corrections.corrections.flatMap((correction) => correction.names),
  ]);
  const merged: Merged = { models: new Map(), disagreements: [], unpriced: [] };
  for (const name of [...names].toSorted()) {
    const model = mergeName(sources, name, merged.disagreements);
    if (model === undefined) merged.unpriced.push(name);
    else merged.models.set(name, model);
  }
  return merged;
}

function mergeName(sources: ProviderSources, name: string, disagreements: Disagreement[]): NamedModel | undefined {
  const { litellm, genaiPrices, corrections, at } = sources;
  const [first, second] = [litellm.get(name), genaiPrices.get(name)];
  const own = corrections.corrections.filter(({ names }) => names.includes(name));
  const found = tableDisagreements(first, second, at);
  const keys = new Set(own.flatMap(({ prices, change }) => (prices === undefined ? Object.keys(change ?? {}) : ["*"])));
  for (const each of found) {
    const decidedBy = keys.has("*") || keys.has(each.key) ? "correction" : "litellm";
    disagreements.push({ provider: sources.provider, name, ...each, decidedBy });
  }
  const combined = combine(first, second, { at, agree: found.every(({ key }) => !isTokenKey(key)) });
  const facts = factsOf(sources, name, own);
  const corrected = own
    .reduce(correct, combined.prices)
    .map((table) => tidied(withTools(table, { name, kind: facts.kind }, corrections)));
  if (corrected.length === 0) return undefined;
  const tables = withFactors(corrected, at).map((table) => withLongWrites(table, corrections.longWrites));
  const [only] = tables;
  const isTimeless = tables.length === 1 && only?.from === undefined && only?.daily === undefined;
  return { ...facts, prices: isTimeless && only !== undefined ? only : tables, source: sourceOf(own, combined.used) };
}

/** Hosted tools cost the same with all models of a provider, unless the prices of a model contain another price. */
function withTools(
  table: TimedPrices,
  { name, kind }: { name: string; kind: CatalogModel["kind"] },
  { tools, toolsByModel = [] }: ProviderCorrections,
): TimedPrices {
  const isGenerating = kind === undefined || kind === "chat" || kind === "responses";
  if (tools === undefined || !isGenerating) return table;
  const own = toolsByModel.filter(({ models }) => models.test(name)).map(({ prices }) => prices);
  return Object.assign({}, tools.prices, ...own, table) as TimedPrices;
}

interface Combined {
  prices: TimedPrices[];
  /** The rows whose prices were taken. */
  used: string[];
}

/**
 * The prices of both tables. Prices of tokens are never mixed from tables that disagree; prices of other units are only
 * in one of them.
 */
function combine(
  first: TableRow | undefined,
  second: TableRow | undefined,
  { at, agree }: { at: number; agree: boolean },
): Combined {
  const [own, other] = [first?.prices ?? [], second?.prices ?? []];
  if (own.length === 0 || first === undefined) {
    return { prices: other, used: other.length === 0 || second === undefined ? [] : [nameOf("genai-prices", second)] };
  }
  const used = [nameOf("litellm", first)];
  if (other.length === 0 || second === undefined) return { prices: own, used };
  const genaiPrices = nameOf("genai-prices", second);
  // Without agreement on the prices of tokens, the other table contributes only prices of other units.
  if (!agree) {
    const added = nonTokens(currentOf(other, at));
    const isUsed = Object.keys(added).some((key) => own.every((table) => !(key in table)));
    return { prices: own.map((table) => ({ ...added, ...table })), used: isUsed ? [...used, genaiPrices] : used };
  }
  if (own.length > 1) return { prices: own, used };
  return { prices: withDates(other, currentOf(own, at), at), used: [...used, genaiPrices] };
}

/**
 * The tables of genai-prices with their dates, and LiteLLM's prices, which are those of today. Prices of other units and
 * the factors of service tiers are the same at all times; a price of tokens that only LiteLLM has holds today.
 */
function withDates(dated: readonly TimedPrices[], today: TimedPrices, at: number): TimedPrices[] {
  const current = currentOf(dated, at);
  const { service_tiers, inference_geos } = today;
  return dated.map((table) =>
    table === current
      ? { ...withoutUndefined({ service_tiers, inference_geos }), ...tokens(today), ...table, ...nonTokens(today) }
      : { ...nonTokens(today), ...table },
  );
}

function tokens(prices: TimedPrices): Prices {
  return Object.fromEntries(ratesOf(prices).filter(([key]) => isTokenKey(key)));
}

function nonTokens(prices: TimedPrices): Prices {
  return Object.fromEntries(ratesOf(prices).filter(([key]) => !isTokenKey(key)));
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}

function nameOf(table: string, { document }: TableRow): string {
  return document === undefined ? table : `${table} (${document})`;
}

function currentOf(prices: readonly TimedPrices[], at: number): TimedPrices {
  return pricesAt({ prices: [...prices], source: "" }, at) ?? prices[0] ?? {};
}

const HALF_HOUR_MS = 1_800_000;

/**
 * The prices that two tables state differently, at any hour if one of them depends on it: the catalog must be the same
 * whenever on a day it is made.
 */
function tableDisagreements(first: TableRow | undefined, second: TableRow | undefined, at: number) {
  if (first === undefined || second === undefined || first.prices.length === 0) return [];
  const dependsOnHour = [...first.prices, ...second.prices].some(({ daily }) => daily !== undefined);
  const moments = dependsOnHour ? Array.from({ length: 48 }, (_, half) => at + half * HALF_HOUR_MS) : [at];
  const found = moments.flatMap((moment) => disagreementsAt([first, second], moment));
  return found.filter(({ key }, index) => found.findIndex((each) => each.key === key) === index);
}

/** The prices that two tables state differently at a moment, with the fallbacks of absent keys. */
function disagreementsAt([first, second]: readonly [TableRow, TableRow], at: number) {
  const [litellm, genaiPrices] = [currentOf(first.prices, at), currentOf(second.prices, at)];
  const keys = new Set([...ratesOf(litellm), ...ratesOf(genaiPrices)].map(([key]) => key));
  return [...keys].flatMap((key) => {
    const [one, other] = [effective(litellm, key), effective(genaiPrices, key)];
    const isSame = one === undefined || other === undefined || JSON.stringify(one) === JSON.stringify(other);
    // Reasoning, audio or cached tokens without a price of their own: only the explicit price is a statement.
    const isStatedTwice = litellm[key] !== undefined && genaiPrices[key] !== undefined;
    return isSame || !isStatedTwice ? [] : [{ key, litellm: one, genaiPrices: other }];
  });
}

function effective(prices: TimedPrices, key: keyof Prices): CatalogRate | undefined {
  const value = prices[key];
  return value === undefined ? undefined : normalTiers(value as CatalogRate);
}

function isTokenKey(key: string): boolean {
  return key.endsWith("_mtok");
}

function correct(prices: TimedPrices[], { prices: replaced, change }: Correction): TimedPrices[] {
  if (replaced !== undefined) return isList(replaced) ? [...replaced] : [replaced];
  if (change === undefined) return prices;
  const changed = (table: TimedPrices): TimedPrices =>
    Object.fromEntries(Object.entries({ ...table, ...change }).filter(([, value]) => value !== null));
  return (prices.length === 0 ? [{}] : prices).map(changed);
}

function isList(prices: Prices | readonly TimedPrices[]): prices is readonly TimedPrices[] {
  return Array.isArray(prices);
}

/** Without keys that cost as much as their fallback, with thresholds in one form, and keys in one order. */
function tidied(table: TimedPrices): TimedPrices {
  const rates = new Map<string, CatalogRate>(ratesOf(table).map(([key, rate]) => [key, normalTiers(rate)]));
  for (const key of priceKeys.toReversed()) if (isRedundant(key, rates)) rates.delete(key);
  const { from, daily, days, service_tiers: tiers, inference_geos: geos } = table;
  const order = [...new Set([...priceKeys, ...rates.keys()])];
  return withoutUndefined({
    from,
    daily,
    days,
    ...Object.fromEntries(order.flatMap((key) => (rates.has(key) ? [[key, rates.get(key)]] : []))),
    service_tiers: tiers,
    inference_geos: geos,
  });
}

/** Audio and image output prices a modality, so it stays even if it equals the price of text. */
function isRedundant(key: PriceKey, rates: ReadonlyMap<string, CatalogRate>): boolean {
  const own = rates.get(key);
  const { fallbacks = [] } = priceUnits[key];
  const nearest = fallbacks.map((fallback) => rates.get(fallback)).find((rate) => rate !== undefined);
  if (own === undefined || nearest === undefined) return false;
  return JSON.stringify(own) === JSON.stringify(nearest) || own === baseOf(nearest);
}

/** A table that lists a flat price beside a tiered one of the same base means the tiers too. */
function baseOf(rate: CatalogRate): unknown {
  return typeof rate === "object" ? rate["base"] : rate;
}

/** OpenAI's "more than 272K tokens" is listed as 272,000 and as 271,999; a call with 272,000 is not a long one. */
function normalTiers(rate: CatalogRate): CatalogRate {
  if (typeof rate === "number" || !Array.isArray(rate["tiers"])) return rate;
  const { base, tiers } = rate as { base: number; tiers: { start: number; price: number }[] };
  return {
    base,
    tiers: tiers.map(({ start, price }) => ({ start: start % 1_000 === 999 ? start + 1 : start, price })),
  };
}

function factsOf({ litellm, genaiPrices, corrections }: ProviderSources, name: string, own: readonly Correction[]) {
  const [first, second] = [litellm.get(name), genaiPrices.get(name)];
  const family = corrections.families?.find((each) => matchesGlob(each.family, name));
  const kind = own.find((each) => each.kind !== undefined)?.kind ?? first?.kind ?? family?.kind;
  const contextWindow =
    own.find((each) => each.contextWindow !== undefined)?.contextWindow ??
    // One table may mean the input alone; a hold must allow for the larger one.
    largest([first?.contextWindow, second?.contextWindow]);
  // A cap that equals the window is no statement of the provider.
  const isWholeWindow = first?.maxOutputTokens !== undefined && first.maxOutputTokens === first.contextWindow;
  const maxOutputTokens =
    own.find((each) => each.maxOutputTokens !== undefined)?.maxOutputTokens ??
    (isWholeWindow ? undefined : first?.maxOutputTokens) ??
    family?.maxOutputTokens;
  const reasons = first?.reasoning === true || own.some(({ reasoning }) => reasoning === true);
  return withoutUndefined({
    kind,
    context_window: contextWindow,
    max_output_tokens: maxOutputTokens,
    reasoning: reasons ? (true as const) : undefined,
  });
}

function largest(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function sourceOf(own: readonly Correction[], used: readonly string[]): string {
  const documents = own.map(({ source }) => source);
  const replaced = own.some(({ prices }) => prices !== undefined);
  return [...documents, ...(replaced ? [] : used)].join("; ");
}
