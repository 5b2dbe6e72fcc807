import type { CatalogModel, CatalogRate, TimedPrices } from "../../../src/pricing/index.ts";
import type { LongWrites } from "../long-writes.ts";
import type { Prices } from "../table-row.ts";

/** A statement that replaces one of the tables, with the document that it is from. */
export interface Correction {
  /** Names of models that have the same prices; the first is the main one. */
  names: readonly string[];
  /** The document: its address, or its name if it has none. */
  source: string;
  kind?: CatalogModel["kind"];
  contextWindow?: number;
  /** Tokens in one answer; of an image model, for one image. */
  maxOutputTokens?: number;
  reasoning?: true;
  /** Replaces all prices of the tables. */
  prices?: Prices | readonly TimedPrices[];
  /** Replaces single prices; null removes one. */
  change?: Readonly<Partial<Record<keyof Prices, CatalogRate | Prices["service_tiers"] | null>>>;
}

/** Facts about all models of a family for which no table has them. */
interface FamilyFacts {
  /** A glob of names. */
  family: string;
  maxOutputTokens?: number;
  kind?: CatalogModel["kind"];
  source: string;
}

/** The corrections of one provider. */
export interface ProviderCorrections {
  corrections: readonly Correction[];
  /** The first family that contains a model counts. */
  families?: readonly FamilyFacts[];
  /** Prices of the provider's hosted tools, for all models that generate text. */
  tools?: { prices: Prices; source: string };
  /** Prices of those tools that differ by model; each source is a document. */
  toolsByModel?: readonly { models: RegExp; prices: Prices; source: string }[];
  /** Writing to a cache for long costs a multiple of writing for short. */
  longWrites?: LongWrites;
}
