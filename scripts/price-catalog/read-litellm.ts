import {
  type CatalogModel,
  type CatalogRate,
  type TimedPrices,
  type Weekday,
  weekdays,
} from "../../src/pricing/index.ts";
import { z } from "zod";
import { perHour, scaled } from "./decimals.ts";
import type { Prices, PublishedTable, TableRow } from "./table-row.ts";

const priceSchema = z.looseObject({
  litellm_provider: z.string().optional(),
  mode: z.string().optional(),
  source: z.string().optional(),
  max_input_tokens: z.unknown().optional(),
  max_output_tokens: z.unknown().optional(),
  supports_reasoning: z.unknown().optional(),
});
type LitellmRow = z.output<typeof priceSchema>;

/** Our provider ids, and the prefix that a model's name may have. */
const providers: Readonly<Record<string, { id: string; prefix: string }>> = {
  openai: { id: "openai", prefix: "openai/" },
  "text-completion-openai": { id: "openai", prefix: "openai/" },
  anthropic: { id: "anthropic", prefix: "anthropic/" },
  gemini: { id: "google", prefix: "gemini/" },
  xai: { id: "x-ai", prefix: "xai/" },
  deepseek: { id: "deepseek", prefix: "deepseek/" },
  mistral: { id: "mistral", prefix: "mistral/" },
  groq: { id: "groq", prefix: "groq/" },
  moonshot: { id: "moonshotai", prefix: "moonshot/" },
  perplexity: { id: "perplexity", prefix: "perplexity/" },
  cohere: { id: "cohere", prefix: "cohere/" },
  jina_ai: { id: "jina", prefix: "jina_ai/" },
  voyage: { id: "voyage", prefix: "voyage/" },
};

const kinds: Readonly<Record<string, NonNullable<CatalogModel["kind"]>>> = {
  responses: "responses",
  completion: "completion",
  embedding: "embeddings",
  image_generation: "image",
  image_edit: "image",
  audio_speech: "speech",
  audio_transcription: "transcription",
  video_generation: "video",
  realtime: "realtime",
  moderation: "moderation",
  rerank: "rerank",
  ocr: "ocr",
  search: "tool",
};

/** Their prices per token, and our keys per million. */
const tokenKeys: readonly (readonly [theirs: string, ours: keyof Prices])[] = [
  ["input_cost_per_token", "input_mtok"],
  ["output_cost_per_token", "output_mtok"],
  ["cache_read_input_token_cost", "cache_read_mtok"],
  ["cache_creation_input_token_cost", "cache_write_mtok"],
  ["cache_creation_input_token_cost_above_1hr", "cache_write_1h_mtok"],
  ["output_cost_per_reasoning_token", "output_reasoning_mtok"],
  ["input_cost_per_audio_token", "input_audio_mtok"],
  ["cache_read_input_audio_token_cost", "cache_audio_read_mtok"],
  ["output_cost_per_audio_token", "output_audio_mtok"],
  ["input_cost_per_image_token", "input_image_mtok"],
  ["cache_read_input_image_token_cost", "cache_image_read_mtok"],
  ["output_cost_per_image_token", "output_image_mtok"],
  ["output_cost_per_video_token", "output_video_mtok"],
];

const serviceTiers = ["priority", "flex", "ultrafast"] as const;

/** Reads the price file of LiteLLM. Prices of zero are ignored: the file also writes zero for a price that it lacks. */
export function readLitellm(text: string): PublishedTable {
  const file = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  const table = new Map<string, Map<string, TableRow>>();
  // A name with the provider's prefix is read last, and replaces the same name without it.
  const entries = Object.entries(file).toSorted(([a], [b]) => Number(a.includes("/")) - Number(b.includes("/")));
  for (const [key, value] of entries) {
    const row = priceSchema.parse(value);
    const provider = providers[row.litellm_provider ?? ""];
    const name = provider && (key.startsWith(provider.prefix) ? key.slice(provider.prefix.length) : key);
    if (provider === undefined || name === undefined || !isModelName(provider.id, name)) continue;
    const rows = table.get(provider.id) ?? new Map<string, TableRow>();
    table.set(provider.id, rows.set(name, toRow(row)));
  }
  return table;
}

/** Some keys name a price of a size (`low/1024-x-1024/gpt-image-1`), of a fine-tuned family or of a tool. */
function isModelName(provider: string, name: string): boolean {
  const mayHaveSlash = provider === "groq" || provider === "perplexity";
  return (mayHaveSlash || !name.includes("/")) && !/^(ft:|search$|container$|preset\/)/.test(name);
}

function toRow(row: LitellmRow): TableRow {
  const kind = kinds[row.mode ?? ""];
  const contextWindow = contextOf(row);
  const maxOutputTokens = countOf(row.max_output_tokens);
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(row.supports_reasoning === true ? { reasoning: true } : {}),
    prices: timedPrices(row),
    ...(row.source?.startsWith("http") === true ? { document: row.source } : {}),
  };
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

/** OpenAI's newer models are listed with the input that leaves room for the longest output. */
function contextOf(row: LitellmRow): number | undefined {
  const [input, output] = [countOf(row.max_input_tokens), countOf(row.max_output_tokens)];
  const excludesOutput = row.litellm_provider === "openai" && (input === 272_000 || input === 922_000);
  return excludesOutput ? input + (output ?? 0) : input;
}

function timedPrices(row: LitellmRow): TimedPrices[] {
  const prices = pricesOf(row, kinds[row.mode ?? ""]);
  if (Object.keys(prices).length === 0) return [];
  const offPeak = offPeakSchema.safeParse(row["off_peak_pricing"]);
  return offPeak.success ? peakPrices(prices, offPeak.data) : [prices];
}

const offPeakSchema = z.looseObject({
  windows: z.array(
    z.looseObject({
      hours_utc: z.union([z.string(), z.array(z.string())]),
      weekdays: z.array(z.number()),
    }),
  ),
});

/** The off-peak prices, and over them the prices of the remaining hours of the week. */
function peakPrices(peak: Prices, offPeak: z.output<typeof offPeakSchema>): TimedPrices[] {
  const byDay = Map.groupBy([1, 2, 3, 4, 5, 6, 7], (day) =>
    JSON.stringify(
      hoursBetween(
        offPeak.windows.filter(({ weekdays: days }) => days.includes(day)).flatMap((each) => each.hours_utc),
      ),
    ),
  );
  return [
    tokenPrices(offPeak, ""),
    ...[...byDay].flatMap(([hours, days]) =>
      (JSON.parse(hours) as [string, string][]).map((daily) => ({
        daily,
        ...(days.length === 7 ? {} : { days: days.map((day) => weekdays[day % 7] as Weekday) }),
        ...peak,
      })),
    ),
  ];
}

/** The hours of a day outside of others, which are in their order and begin and end at midnight. */
function hoursBetween(hours: readonly string[]): [string, string][] {
  const ranges = hours.map((range) => range.split("-"));
  return ranges.flatMap(([, end = ""], index): [string, string][] => {
    const next = ranges[index + 1]?.[0];
    return next === undefined ? [] : [[end, next]];
  });
}

function pricesOf(row: LitellmRow, kind: CatalogModel["kind"]): Prices {
  const tokens = tokenPrices(row, "");
  const prices = { ...tokens, ...otherPrices(row, kind, Object.keys(tokens).length > 0) };
  const tiers = serviceTiers.flatMap((tier) => {
    const found = tokenPrices(row, `_${tier}`);
    return Object.keys(found).length === 0 ? [] : [[tier, found] as const];
  });
  const { us, fast } = factorsOf(row["provider_specific_entry"]);
  const named = { ...Object.fromEntries(tiers), ...(fast === undefined ? {} : { fast }) };
  return {
    ...prices,
    ...(Object.keys(named).length === 0 ? {} : { service_tiers: named }),
    ...(us === undefined ? {} : { inference_geos: { us } }),
  };
}

function factorsOf(entry: unknown): { us?: number | undefined; fast?: number | undefined } {
  const factors = z.looseObject({ us: z.number().optional(), fast: z.number().optional() }).safeParse(entry);
  return factors.success ? factors.data : {};
}

/** The prices of tokens whose names end with a suffix (`_priority`), with those of long prompts. */
function tokenPrices(row: Readonly<Record<string, unknown>>, suffix: string): Prices {
  const found = tokenKeys.flatMap(([theirs, ours]) => {
    const base = priceOf(row[theirs + suffix]);
    return base === undefined ? [] : [[ours, withTiers(base, tiersOf(row, theirs, suffix))] as const];
  });
  return Object.fromEntries(found);
}

function withTiers(base: number, tiers: { start: number; price: number }[]): CatalogRate {
  return tiers.length === 0 ? base : { base, tiers };
}

function tiersOf(
  row: Readonly<Record<string, unknown>>,
  key: string,
  suffix: string,
): { start: number; price: number }[] {
  const pattern = new RegExp(`^${key}_above_(\\d+)k_tokens${suffix}$`);
  return Object.entries(row)
    .flatMap(([name, value]) => {
      const [, thousands] = pattern.exec(name) ?? [];
      const price = priceOf(value);
      return thousands === undefined || price === undefined ? [] : [{ start: Number(thousands) * 1_000, price }];
    })
    .toSorted((a, b) => a.start - b.start);
}

function priceOf(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? scaled(value, 6) : undefined;
}

function otherPrices(row: LitellmRow, kind: CatalogModel["kind"], hasTokens: boolean): Prices {
  return withoutAbsent({
    ...imagePrices(row, kind, hasTokens),
    ...timePrices(row, kind, hasTokens),
    input_mchars: priceOf(row["input_cost_per_character"]),
    pages_kcount: perThousand(row["ocr_cost_per_page"]),
    maps_kcount: perThousand(row["google_maps_grounding_cost_per_query"]),
    [kind === "rerank" ? "search_units_kcount" : "searches_kcount"]: perThousand(row["input_cost_per_query"]),
    web_searches_kcount: highestSearch(row["search_context_cost_per_query"]),
  });
}

function withoutAbsent(prices: Readonly<Record<string, CatalogRate | undefined>>): Prices {
  return Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== undefined));
}

function perThousand(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? scaled(value, 3) : undefined;
}

/** The size of a search's context is chosen by the caller; the file lists a price for each. */
function highestSearch(sizes: unknown): number | undefined {
  const prices = z.record(z.string(), z.number()).safeParse(sizes);
  return prices.success ? perThousand(Math.max(...Object.values(prices.data))) : undefined;
}

/** If an image model also has prices per token, those are exact, and the prices per image are examples. */
function imagePrices(
  row: LitellmRow,
  kind: CatalogModel["kind"],
  hasTokens: boolean,
): Record<string, number | undefined> {
  const [into, out] = [unitPrice(row["input_cost_per_image"]), unitPrice(row["output_cost_per_image"])];
  if (kind === "video") return { input_image: into };
  if (kind !== "image" || hasTokens) return {};
  // Of xAI's image models, the price of an image of output is listed as one of input.
  return { image: out ?? into };
}

function unitPrice(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? scaled(value, 0) : undefined;
}

function timePrices(
  row: LitellmRow,
  kind: CatalogModel["kind"],
  hasTokens: boolean,
): Record<string, CatalogRate | undefined> {
  const second = row["input_cost_per_second"];
  const hour = typeof second === "number" && second > 0 ? perHour(second) : undefined;
  if (kind === "transcription" && !hasTokens) return { input_audio_hours: hour };
  if (kind === "realtime") return { connection_hours: hour };
  return kind === "video" ? { output_video_seconds: videoSeconds(row) } : {};
}

/** Prices of a second by resolution; the price without a resolution is that of all others. */
function videoSeconds(row: LitellmRow): CatalogRate | undefined {
  const base = unitPrice(row["output_cost_per_second"]) ?? unitPrice(row["output_cost_per_video_per_second"]);
  const variants = Object.entries(row).flatMap(([key, value]) => {
    const resolution = /^output_cost_per_second_(\w+)$/.exec(key)?.[1];
    const price = unitPrice(value);
    return resolution === undefined || price === undefined ? [] : [[resolution, price] as const];
  });
  if (variants.length === 0) return base;
  const names = variants.map(([name]) => name);
  // A variant that is not listed costs as much as the most expensive one, so the usual resolutions must be listed.
  const usual =
    base === undefined ? [] : ["480p", "720p", "1080p"].filter((name) => !names.includes(name) && isBelow(name, names));
  return Object.fromEntries([...usual.map((name) => [name, base]), ...variants]) as Record<string, number>;
}

const resolutions = ["480p", "720p", "768p", "1080p", "2k", "4k"];

/** Whether a resolution is lower than the lowest one with a price of its own: then the base price is meant for it. */
function isBelow(name: string, listed: readonly string[]): boolean {
  const lowest = Math.min(...listed.map((each) => resolutions.indexOf(each)));
  return resolutions.indexOf(name) < lowest;
}
