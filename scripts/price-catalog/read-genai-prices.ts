import { priceKeys } from "../../src/core/index.ts";
import type { CatalogRate, TimedPrices } from "../../src/pricing/index.ts";
import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
} from "@pydantic/genai-prices";
import { scaled } from "./decimals.ts";
import type { PublishedTable, TableRow } from "./table-row.ts";

/** Keys that have another name in genai-prices. */
const renamedKeys: Readonly<Record<string, string>> = {
  audio_hours: "connection_hours",
  input_document_kpages: "pages_kcount",
};

const knownKeys: ReadonlySet<string> = new Set(priceKeys);

/** Names of one provider's models. */
export interface NamesToFind {
  /** Names that were looked up one by one: every rule applies to them. */
  known: readonly string[];
  /** Names that another table lists. */
  listed: readonly string[];
}

/**
 * Reads genai-prices. Its rules for names are applied to the names that a source knows: the catalog lists names, and
 * "starts with claude-sonnet-5" would also match names that nobody offers.
 */
export function readGenaiPrices(
  providers: readonly string[],
  namesOf: (provider: string) => NamesToFind,
): PublishedTable {
  return new Map(providers.map((id) => [id, rowsOf(id, namesOf(id))]));
}

function rowsOf(id: string, { known, listed }: NamesToFind): Map<string, TableRow> {
  const models = (findProvider({ providerId: id })?.models ?? []).filter((model) => isOfProvider(id, model));
  const names = new Set([...models.flatMap(({ match }) => equalNames(match)), ...known, ...listed]);
  return new Map(
    [...names]
      .filter((name) => isCallable(id, name))
      .flatMap((name) => {
        const matches = known.includes(name) ? matchesByRule : matchesVersion;
        const model = models.find(({ match }) => matches(match, name));
        const row = model && toRow(id, name, model);
        return row === undefined ? [] : [[name, row] as const];
      }),
  );
}

/**
 * Some models in a provider's list are not the provider's: Google's list contains models of other makers, and several
 * lists contain names that were taken over from OpenRouter.
 */
function isOfProvider(id: string, { id: model, price_comments: comments = "" }: ModelInfo): boolean {
  const isTakenOver = /^(Imported from|Seen on) OpenRouter|trusting open router/.test(comments);
  return !isTakenOver && (id !== "google" || /^(gemini|gemma)/.test(model));
}

/** Some lists contain names of a reseller: `devstral-small:free`, `x-ai/grok-4.3`. */
function isCallable(id: string, name: string): boolean {
  return ["openrouter", "groq", "perplexity"].includes(id) || !/[:/@]/.test(name);
}

function toRow(id: string, name: string, model: ModelInfo): TableRow | undefined {
  const list: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const isFree = id === "openrouter" && name.endsWith(":free");
  const prices = list.flatMap(({ constraint, prices: table }) => {
    const rates = isFree ? { input_mtok: 0, output_mtok: 0 } : ratesFrom(table);
    return Object.keys(rates).length === 0 ? [] : [{ ...conditionOf(constraint), ...rates }];
  });
  const documents = /https:\/\/\S+/.exec(model.price_comments ?? "");
  return prices.length === 0
    ? undefined
    : {
        prices,
        model: model.id,
        ...(model.context_window === undefined ? {} : { contextWindow: model.context_window }),
        ...(documents === null ? {} : { document: documents[0].replace(/[.,)]+$/, "") }),
      };
}

function conditionOf(constraint: ConditionalPrice["constraint"]): Pick<TimedPrices, "from" | "daily"> {
  if (constraint === undefined) return {};
  if (constraint.type === "start_date") return { from: constraint.start_date };
  return { daily: [constraint.start_time.slice(0, 5), constraint.end_time.slice(0, 5)] };
}

function ratesFrom(table: ModelPrice): Record<string, CatalogRate> {
  const rates = Object.entries(table).flatMap(([key, value]) => {
    const ours = renamedKeys[key] ?? key;
    if (value === undefined || !knownKeys.has(ours)) return [];
    return [[ours, typeof value === "number" ? scaled(value, 0) : { base: value.base, tiers: value.tiers }] as const];
  });
  const found = Object.fromEntries(rates);
  // The price of an hour of transcription is listed twice.
  if (found["input_audio_hours"] !== undefined) delete found["connection_hours"];
  return found;
}

function equalNames(match: MatchLogic): string[] {
  if ("equals" in match) return [match.equals];
  return "or" in match ? match.or.flatMap(equalNames) : [];
}

/** Whether a rule matches a name exactly, or as a dated version of the name that the rule begins with. */
function matchesVersion(match: MatchLogic, name: string): boolean {
  if ("starts_with" in match) return /^(-\d{4}-\d\d-\d\d|-\d{8}|-latest)?$/.test(restOf(name, match.starts_with));
  if ("or" in match) return match.or.some((each) => matchesVersion(each, name));
  if ("and" in match) return match.and.some((each) => matchesVersion(each, name)) && matchesByRule(match, name);
  return ("equals" in match || "regex" in match) && matchesByRule(match, name);
}

function restOf(name: string, begin: string): string {
  return name.startsWith(begin) ? name.slice(begin.length) : "another model";
}

function matchesByRule(match: MatchLogic, name: string): boolean {
  if ("equals" in match) return name === match.equals;
  if ("starts_with" in match) return name.startsWith(match.starts_with);
  if ("ends_with" in match) return name.endsWith(match.ends_with);
  if ("contains" in match) return name.includes(match.contains);
  if ("regex" in match) return new RegExp(match.regex).test(name);
  if ("or" in match) return match.or.some((each) => matchesByRule(each, name));
  return match.and.every((each) => matchesByRule(each, name));
}
