import type { UsageBucket } from "./usage.ts";

/**
 * Every key that a price can have, one row each. From these rows derive the configuration's schema, the table that charges
 * are calculated from, the quotes of `GET /v1/models`, the contract of that route and the list of keys in the README.
 *
 * A new unit (seconds of video, calls of a hosted tool, pages, minutes of connection) is a bucket in `usage.ts` and one row
 * here; a bucket without a row does not compile. Which keys together price a kind of work is in `pricing/price-table.ts`.
 */

/** A row: what a price under this key is for, and which price applies where it is absent. */
interface PriceUnit<Key extends string> {
  /** The bucket of usage that the price is for. Each bucket has one key. */
  bucket: UsageBucket;
  /** How many units of the bucket one price is for. */
  per: number;
  /** How many units the rate in memory is for, where a single unit's would seldom be whole femto-credits. Absent: one. */
  ratePer?: number;
  /** What the price buys; the documentation reads "Credits for …". */
  buys: string;
  /** Keys whose price applies where this one is absent, the nearest first. They stand in rows above. Absent: it costs nothing. */
  fallbacks?: readonly Key[];
  /** The price may be an object by variant, in the words of `ImageVariant`. */
  variants?: true;
  /** Quotes have the key even where its price is zero or that of its fallback. */
  alwaysQuoted?: true;
}

const MTOK = 1_000_000;
const MCHARS = 1_000_000;
const KCOUNT = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The names are those of genai-prices where it has one. Tokens without a price of their own are charged as what they are a
 * kind of, reasoning as output, a cached token as input: no token is free by omission.
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
    buys: "a million input tokens written to a cache for an hour",
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
  // Not `audio_hours`, which is genai-prices' name for the price of a connection that stays open.
  input_audio_hours: {
    bucket: "inputAudioMs",
    per: HOUR_MS,
    ratePer: HOUR_MS,
    buys: "an hour of audio to be transcribed, counted by the millisecond",
  },
  requests_kcount: { bucket: "requests", per: KCOUNT, buys: "a thousand calls" },
} as const satisfies Readonly<Record<string, PriceUnit<string>>>;

type Rows = typeof rows;
type KeyWith<Trait> = { [Key in keyof Rows]: Rows[Key] extends Trait ? Key : never }[keyof Rows];

export type PriceKey = keyof Rows;

/** Keys whose price may be one for all, or one for each variant. */
export type VariantPriceKey = KeyWith<{ variants: true }>;

type AlwaysQuotedKey = KeyWith<{ alwaysQuoted: true }>;
type PlainPriceKey = Exclude<PriceKey, AlwaysQuotedKey | VariantPriceKey>;
type PricedBucket = Rows[PriceKey]["bucket"];

export const priceUnits: Readonly<Record<PriceKey, PriceUnit<PriceKey>>> = rows;

// The keys of a literal are those of its type.
export const priceKeys = Object.keys(rows) as readonly PriceKey[];

function isAlwaysQuoted(key: PriceKey): key is AlwaysQuotedKey {
  return priceUnits[key].alwaysQuoted === true;
}

function hasVariants(key: PriceKey): key is VariantPriceKey {
  return priceUnits[key].variants === true;
}

/** A value for every key, its type by the kind of key. */
export type ByPriceKey<Always, Plain, Variants> = Record<AlwaysQuotedKey, Always> &
  Record<PlainPriceKey, Plain> &
  Record<VariantPriceKey, Variants>;

/** Makes the value of a key, by the kind of key. */
interface PriceKeyMakers<Always, Plain, Variants> {
  /** The price is a single number, and every quote has it. */
  always(key: AlwaysQuotedKey): Always;
  /** The price is a single number, quoted where it differs from its fallback's or, without a fallback, from zero. */
  plain(key: PlainPriceKey): Plain;
  /** The price is a single number or one for each variant, quoted where it is not zero. */
  variants(key: VariantPriceKey): Variants;
}

/** An object with a member for every key. */
export function byPriceKey<Always, Plain, Variants>(
  make: PriceKeyMakers<Always, Plain, Variants>,
): ByPriceKey<Always, Plain, Variants> {
  const valueOf = (key: PriceKey): Always | Plain | Variants => {
    if (isAlwaysQuoted(key)) return make.always(key);
    return hasVariants(key) ? make.variants(key) : make.plain(key);
  };
  return Object.fromEntries(priceKeys.map((key) => [key, valueOf(key)])) as ByPriceKey<Always, Plain, Variants>;
}

/** An object with a member for every bucket, made from the key that prices it. */
export function byPricedBucket<Value>(make: (key: PriceKey) => Value): Record<PricedBucket, Value> {
  return Object.fromEntries(priceKeys.map((key) => [rows[key].bucket, make(key)])) as Record<PricedBucket, Value>;
}

const choiceOfVariants =
  "one price, or prices by size/quality, size or quality; any other variant costs as much as the dearest";

/** What a price means, for the documentation of the configuration and of the quotes. */
export function describePrice(key: PriceKey): string {
  const { buys, fallbacks = [], variants } = priceUnits[key];
  const meaning = variants === true ? `Credits for ${buys}: ${choiceOfVariants}.` : `Credits for ${buys}.`;
  const [nearest, ...further] = fallbacks;
  if (nearest === undefined) return meaning;
  return `${meaning} If absent, ${[`${nearest} applies`, ...further].join(", else ")}.`;
}
