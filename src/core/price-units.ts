import { keysOf } from "./json.ts";
import type { UsageBucket } from "./usage.ts";

/**
 * Every key that a price can have, one row each. The configuration's schema, the rates that charges are calculated
 * from, the quotes of `GET /v1/models`, the contract of that route and the list of keys in `docs/configuration.md` derive
 * from these rows.
 *
 * A new unit is a bucket in `usage.ts` and a row here; a bucket without a row does not compile, and neither does one
 * without a name in `http/account/generation.ts` (CONTRIBUTING.md has the recipe). `pricing/price-table.ts` lists the keys
 * that together price a modality.
 */

/** A row: the units that a price under this key is for, and the prices that replace an absent one. */
interface PriceUnit<Key extends string> {
  /** The bucket of usage that the price is for. Each bucket has one key. */
  bucket: UsageBucket;
  /** How many units of the bucket one price is for. */
  per: number;
  /**
   * How many units a rate in memory is for, if the rate of a single unit would rarely be whole femto-credits. Absent:
   * one.
   */
  ratePer?: number;
  /** The purchased units; the documentation reads "Credits for …". */
  buys: string;
  /**
   * Keys whose price applies if this one is absent, nearest first, in rows above this one. Absent: the units are free.
   */
  fallbacks?: readonly Key[];
  /** The price may be an object by variant: of an image in the terms of `MediaVariant`, of a video such as `1080p`. */
  variants?: true;
  /** A unit of a hosted tool: its price does not depend on the terms that a call's tokens are priced by. */
  isTool?: true;
  /** Quotes contain the key even if its price is zero or equal to that of its fallback. */
  alwaysQuoted?: true;
}

const MTOK = 1_000_000;
const MCHARS = 1_000_000;
const KCOUNT = 1_000;
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The names are those of genai-prices, if it has one. Tokens without a price are charged as the kind that they belong
 * to, reasoning as output, a cached token as input: no token is free by omission.
 */
const rows = {
  input_mtok: { bucket: "input", per: MTOK, buys: "a million input tokens", alwaysQuoted: true },
  output_mtok: { bucket: "output", per: MTOK, buys: "a million output tokens", alwaysQuoted: true },
  cache_read_mtok: {
    bucket: "cacheRead",
    per: MTOK,
    buys: "a million input tokens read from a cache",
    fallbacks: ["input_mtok"],
    alwaysQuoted: true,
  },
  cache_write_mtok: {
    bucket: "cacheWrite5m",
    per: MTOK,
    buys: "a million input tokens written to a cache",
    fallbacks: ["input_mtok"],
  },
  cache_write_1h_mtok: {
    bucket: "cacheWrite1h",
    per: MTOK,
    buys: "a million input tokens written to a cache for long: for an hour at Anthropic, for 12 hours at OpenAI",
    fallbacks: ["cache_write_mtok", "input_mtok"],
  },
  output_reasoning_mtok: {
    bucket: "reasoning",
    per: MTOK,
    buys: "a million reasoning tokens",
    fallbacks: ["output_mtok"],
  },
  input_audio_mtok: {
    bucket: "inputAudio",
    per: MTOK,
    buys: "a million audio tokens of input",
    fallbacks: ["input_mtok"],
  },
  cache_audio_read_mtok: {
    bucket: "cacheAudioRead",
    per: MTOK,
    buys: "a million audio tokens read from a cache",
    fallbacks: ["input_audio_mtok", "cache_read_mtok", "input_mtok"],
  },
  output_audio_mtok: {
    bucket: "outputAudio",
    per: MTOK,
    buys: "a million audio tokens of output",
    fallbacks: ["output_mtok"],
  },
  input_image_mtok: {
    bucket: "inputImage",
    per: MTOK,
    buys: "a million image tokens of input",
    fallbacks: ["input_mtok"],
  },
  cache_image_read_mtok: {
    bucket: "cacheImageRead",
    per: MTOK,
    buys: "a million image tokens read from a cache",
    fallbacks: ["input_image_mtok", "cache_read_mtok", "input_mtok"],
  },
  output_image_mtok: {
    bucket: "outputImage",
    per: MTOK,
    buys: "a million image tokens of output",
    fallbacks: ["output_mtok"],
  },
  image: { bucket: "images", per: 1, buys: "a generated image", variants: true },
  input_image: { bucket: "inputImages", per: 1, buys: "an image sent along with the request" },
  input_mchars: { bucket: "inputCharacters", per: MCHARS, buys: "a million characters of text to be spoken" },
  // Not `audio_hours`: in genai-prices that is the price of a connection that stays open.
  input_audio_hours: {
    bucket: "inputAudioMs",
    per: HOUR_MS,
    ratePer: HOUR_MS,
    buys: "an hour of audio to be transcribed, counted by the millisecond, or by the second if the provider does",
  },
  output_video_mtok: {
    bucket: "outputVideo",
    per: MTOK,
    buys: "a million video tokens of output",
    variants: true,
  },
  output_video_seconds: {
    bucket: "outputVideoMs",
    per: SECOND_MS,
    buys: "a second of generated video",
    variants: true,
  },
  input_video_seconds: {
    bucket: "inputVideoMs",
    per: SECOND_MS,
    buys: "a second of video sent along with the request",
  },
  connection_hours: {
    bucket: "connectionMs",
    per: HOUR_MS,
    ratePer: HOUR_MS,
    buys: "an hour of an open connection, counted by the millisecond",
  },
  web_searches_kcount: {
    isTool: true,
    bucket: "webSearches",
    per: KCOUNT,
    buys: "a thousand searches of a hosted web search",
  },
  preview_searches_kcount: {
    isTool: true,
    bucket: "previewSearches",
    per: KCOUNT,
    buys: "a thousand searches of OpenAI's tool web_search_preview",
    fallbacks: ["web_searches_kcount"],
  },
  storage_searches_kcount: {
    isTool: true,
    bucket: "storageSearches",
    per: KCOUNT,
    buys: "a thousand searches of stored files",
  },
  container_gb: {
    isTool: true,
    bucket: "containerGb",
    per: 1,
    buys: "a gigabyte of memory of a hosted container, in which a code interpreter or a shell runs",
  },
  searches_kcount: { bucket: "searches", per: KCOUNT, buys: "a thousand times ten search results, of /v2/search" },
  pages_kcount: { bucket: "pages", per: KCOUNT, buys: "a thousand pages of the web" },
  maps_kcount: { bucket: "maps", per: KCOUNT, buys: "a thousand maps of a site" },
  pdf_pages_kcount: { bucket: "pdfPages", per: KCOUNT, buys: "a thousand pages of PDF documents" },
  tool_calls_kcount: { bucket: "toolCalls", per: KCOUNT, buys: "a thousand calls of a tool of another server" },
  search_units_kcount: {
    bucket: "searchUnits",
    per: KCOUNT,
    buys: "a thousand search units of a ranking: a query with up to a hundred documents",
  },
  requests_kcount: { bucket: "requests", per: KCOUNT, buys: "a thousand calls" },
} as const satisfies Readonly<Record<string, PriceUnit<string>>>;

type Rows = typeof rows;
type KeyWith<Trait> = { [Key in keyof Rows]: Rows[Key] extends Trait ? Key : never }[keyof Rows];

export type PriceKey = keyof Rows;

/** Keys that take either one price or a price for each variant. */
export type VariantPriceKey = KeyWith<{ variants: true }>;

type AlwaysQuotedKey = KeyWith<{ alwaysQuoted: true }>;
type PlainPriceKey = Exclude<PriceKey, AlwaysQuotedKey | VariantPriceKey>;
type PricedBucket = Rows[PriceKey]["bucket"];

export const priceUnits: Readonly<Record<PriceKey, PriceUnit<PriceKey>>> = rows;

/** The key that prices each bucket. */
export const keyOfBucket = Object.fromEntries(
  Object.entries(rows).map(([key, { bucket }]) => [bucket, key]),
) as Readonly<Record<PricedBucket, PriceKey>>;

export const priceKeys: readonly PriceKey[] = keysOf(rows);

function isAlwaysQuoted(key: PriceKey): key is AlwaysQuotedKey {
  return priceUnits[key].alwaysQuoted === true;
}

function hasVariants(key: PriceKey): key is VariantPriceKey {
  return priceUnits[key].variants === true;
}

/** A value for every key; its type depends on the kind of key. */
export type ByPriceKey<Always, Plain, Variants> = Record<AlwaysQuotedKey, Always> &
  Record<PlainPriceKey, Plain> &
  Record<VariantPriceKey, Variants>;

/** Creates the value of a key, depending on the kind of key. */
interface PriceKeyMakers<Always, Plain, Variants> {
  /** The price is a single number that every quote contains. */
  always(key: AlwaysQuotedKey): Always;
  /** The price is a single number, quoted if it differs from its fallback's or, without a fallback, from zero. */
  plain(key: PlainPriceKey): Plain;
  /** The price is a single number or a number per variant, quoted unless it is zero. */
  variants(key: VariantPriceKey): Variants;
}

/** Creates an object with a member for every key. */
export function byPriceKey<Always, Plain, Variants>(
  make: PriceKeyMakers<Always, Plain, Variants>,
): ByPriceKey<Always, Plain, Variants> {
  const valueOf = (key: PriceKey): Always | Plain | Variants => {
    if (isAlwaysQuoted(key)) return make.always(key);
    return hasVariants(key) ? make.variants(key) : make.plain(key);
  };
  return Object.fromEntries(priceKeys.map((key) => [key, valueOf(key)])) as ByPriceKey<Always, Plain, Variants>;
}

/** Creates an object with a member for every bucket, from the key that prices the bucket. */
export function byPricedBucket<Value>(make: (key: PriceKey) => Value): Record<PricedBucket, Value> {
  return Object.fromEntries(priceKeys.map((key) => [rows[key].bucket, make(key)])) as Record<PricedBucket, Value>;
}

const choiceOfVariants =
  "one price, or prices by variant, such as size/quality, size or quality; any other variant costs as much as the most expensive one";

/** Describes a price, for the documentation of the configuration and of the quotes. */
export function describePrice(key: PriceKey): string {
  const { buys, fallbacks = [], variants } = priceUnits[key];
  const meaning = variants === true ? `Credits for ${buys}: ${choiceOfVariants}.` : `Credits for ${buys}.`;
  const [nearest, ...further] = fallbacks;
  if (nearest === undefined) return meaning;
  return `${meaning} If absent, ${[`${nearest} applies`, ...further].join(", else ")}.`;
}
