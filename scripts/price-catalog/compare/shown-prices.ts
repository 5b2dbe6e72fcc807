/** The prices of a row of LiteLLM that no call of text shows, under the keys of `/v1/models`. */
import { type JsonObject, objectOf, type PriceKey, priceUnits } from "../../../src/core/index.ts";

interface ShownPrice {
  key: PriceKey;
  /** LiteLLM's member. */
  theirs: string;
  expected: number;
}

const MILLION = 1_000_000;
const HOUR = 3_600;

/** LiteLLM's members, our keys, and how many of their units ours has; `without`: another price takes their place. */
const units: readonly (readonly [mode: string, theirs: string, ours: PriceKey, factor: number])[] = [
  ["audio_transcription", "input_cost_per_second", "input_audio_hours", HOUR],
  ["realtime", "input_cost_per_second", "connection_hours", HOUR],
  ["audio_speech", "input_cost_per_character", "input_mchars", MILLION],
  ["image_generation", "output_cost_per_image", "image", 1],
  ["video_generation", "output_cost_per_second", "output_video_seconds", 1],
  ["ocr", "ocr_cost_per_page", "pages_kcount", 1_000],
  ...["image_generation", "audio_speech", "audio_transcription", "realtime", "moderation"].flatMap((mode) => [
    [mode, "input_cost_per_token", "input_mtok", MILLION] as const,
    [mode, "output_cost_per_token", "output_mtok", MILLION] as const,
    [mode, "cache_read_input_token_cost", "cache_read_mtok", MILLION] as const,
    [mode, "input_cost_per_audio_token", "input_audio_mtok", MILLION] as const,
    [mode, "output_cost_per_audio_token", "output_audio_mtok", MILLION] as const,
    [mode, "input_cost_per_image_token", "input_image_mtok", MILLION] as const,
    [mode, "output_cost_per_image_token", "output_image_mtok", MILLION] as const,
  ]),
];

export function shownPrices(row: JsonObject): ShownPrice[] {
  const hasTokens = typeof row["input_cost_per_token"] === "number" && row["input_cost_per_token"] > 0;
  return units.flatMap(([mode, theirs, key, factor]) => {
    const price = row[theirs];
    if (row["mode"] !== mode || typeof price !== "number" || price <= 0) return [];
    // Prices of tokens are exact; those of a second or an image are examples beside them.
    const isExample = hasTokens && ["input_audio_hours", "image"].includes(key);
    return isExample ? [] : [{ key, theirs, expected: price * factor }];
  });
}

/** The price that the gateway shows under a key, or that its absence means; several if it depends on the variant. */
export function pricesShown(pricing: unknown, key: PriceKey): number[] {
  const shown = objectOf(pricing) ?? {};
  const found = [key, ...(priceUnits[key].fallbacks ?? [])].find((each) => shown[each] !== undefined);
  const value = found === undefined ? undefined : shown[found];
  if (typeof value === "number") return [value];
  return Object.values(objectOf(value) ?? {}).filter((each) => typeof each === "number");
}
