import type { Generation, Prices } from "../../api/types.ts";
import { compare, type Decimal, decimalOf, priceOf, roundUp, sum } from "../../money/decimal.ts";

interface PricedBucket {
  /** As people call the units. */
  name: string;
  /** The key of its price in `pricing` of `/v1/models`, and those that count if it is absent. */
  keys: readonly string[];
  per: number;
  perText: string;
}

const MILLION = { per: 1_000_000, perText: "million" };
const THOUSAND = { per: 1_000, perText: "thousand" };
const HOUR = { per: 3_600_000, perText: "hour" };
const SECOND = { per: 1_000, perText: "second" };
const ONE = { per: 1, perText: "one" };

/** The buckets of a call's `usage`, in the order in which they are shown. */
const buckets: Readonly<Record<string, PricedBucket>> = {
  input: { name: "Input tokens", keys: ["input_mtok"], ...MILLION },
  cache_read: { name: "Input tokens from a cache", keys: ["cache_read_mtok", "input_mtok"], ...MILLION },
  cache_write_5m: { name: "Input tokens into a cache", keys: ["cache_write_mtok", "input_mtok"], ...MILLION },
  cache_write_1h: {
    name: "Input tokens into a cache for long",
    keys: ["cache_write_1h_mtok", "cache_write_mtok", "input_mtok"],
    ...MILLION,
  },
  input_audio: { name: "Input tokens of audio", keys: ["input_audio_mtok", "input_mtok"], ...MILLION },
  cache_audio_read: {
    name: "Tokens of audio from a cache",
    keys: ["cache_audio_read_mtok", "input_audio_mtok", "cache_read_mtok", "input_mtok"],
    ...MILLION,
  },
  input_image: { name: "Input tokens of images", keys: ["input_image_mtok", "input_mtok"], ...MILLION },
  cache_image_read: {
    name: "Tokens of images from a cache",
    keys: ["cache_image_read_mtok", "input_image_mtok", "cache_read_mtok", "input_mtok"],
    ...MILLION,
  },
  output: { name: "Output tokens", keys: ["output_mtok"], ...MILLION },
  reasoning: { name: "Reasoning tokens", keys: ["output_reasoning_mtok", "output_mtok"], ...MILLION },
  output_audio: { name: "Output tokens of audio", keys: ["output_audio_mtok", "output_mtok"], ...MILLION },
  output_image: { name: "Output tokens of images", keys: ["output_image_mtok", "output_mtok"], ...MILLION },
  output_video: { name: "Output tokens of video", keys: ["output_video_mtok"], ...MILLION },
  images: { name: "Images", keys: ["image"], ...ONE },
  input_images: { name: "Images sent along", keys: ["input_image"], ...ONE },
  input_characters: { name: "Characters to be spoken", keys: ["input_mchars"], ...MILLION },
  input_audio_ms: { name: "Milliseconds of audio", keys: ["input_audio_hours"], ...HOUR },
  input_video_ms: { name: "Milliseconds of input video", keys: ["input_video_seconds"], ...SECOND },
  output_video_ms: { name: "Milliseconds of video", keys: ["output_video_seconds"], ...SECOND },
  connection_ms: { name: "Milliseconds of connection", keys: ["connection_hours"], ...HOUR },
  web_searches: { name: "Web searches", keys: ["web_searches_kcount"], ...THOUSAND },
  preview_searches: {
    name: "Web searches (preview)",
    keys: ["preview_searches_kcount", "web_searches_kcount"],
    ...THOUSAND,
  },
  storage_searches: { name: "Searches of files", keys: ["storage_searches_kcount"], ...THOUSAND },
  container_gb: { name: "Gigabytes of containers", keys: ["container_gb"], ...ONE },
  searches: { name: "Ten search results", keys: ["searches_kcount"], ...THOUSAND },
  pages: { name: "Pages of the web", keys: ["pages_kcount"], ...THOUSAND },
  maps: { name: "Maps of sites", keys: ["maps_kcount"], ...THOUSAND },
  pdf_pages: { name: "Pages of documents", keys: ["pdf_pages_kcount"], ...THOUSAND },
  tool_calls: { name: "Calls of tools", keys: ["tool_calls_kcount"], ...THOUSAND },
  search_units: { name: "Search units", keys: ["search_units_kcount"], ...THOUSAND },
  requests: { name: "Calls", keys: ["requests_kcount"], ...THOUSAND },
};

/** A line of a call's bill: so many units at a price. */
interface PriceLine {
  name: string;
  count: number;
  /** Undefined if the price list has none, or one by variant. */
  price: Decimal | undefined;
  perText: string;
  credits: Decimal | undefined;
}

interface Bill {
  lines: PriceLine[];
  /** The lines together, rounded up once. */
  sum: Decimal;
  /** Whether that is the charge, to the last decimal; undefined if no line has a price, as of pages of the web and tools. */
  isCharge: boolean | undefined;
}

/** The bill of a call, by prices of today. They may have changed since, or depend on the length or the terms of a call. */
export function billOf(call: Generation, prices: Prices | null | undefined): Bill {
  const lines = Object.entries(buckets).flatMap(([bucket, { name, keys, per, perText }]): PriceLine[] => {
    const count = call.usage[bucket] ?? 0;
    const key = keys.find((each) => prices?.[each] !== undefined);
    const value = key === undefined ? undefined : prices?.[key];
    const price = typeof value === "number" ? decimalOf(value) : undefined;
    const isFree = value === undefined;
    // Every call counts as one; that is a line only if it is paid for.
    if (count === 0 || (bucket === "requests" && isFree)) return [];
    return [{ name, count, price, perText, credits: price && priceOf(price, count, per) }];
  });
  const total = roundUp(sum(lines.flatMap(({ credits }) => credits ?? [])), NANO_DECIMALS);
  const isPriced = lines.some(({ price }) => price !== undefined);
  return { lines, sum: total, isCharge: isPriced ? compare(total, decimalOf(call.credits)) === 0 : undefined };
}

/** A charge is rounded up to nano-credits. */
const NANO_DECIMALS = 9;
