import { applyMarkup, creditsNumber, type Femto, roundUpToNano, type UsageBucket } from "../core/index.ts";
import type { ModelPrice } from "./model-price.ts";
import type { TieredRate } from "./price-table.ts";

const MTOK = 1_000_000n;
const KCOUNT = 1_000n;

type TokenKey = "input_mtok" | "output_mtok" | "cache_read_mtok";
type OwnTokenKey = "input_audio_mtok" | "output_audio_mtok" | "input_image_mtok" | "output_image_mtok";
type UnitKey = "input_image" | "input_mchars" | "input_audio_hours" | "requests_kcount";

/** What callers are told: tokens always, the rest where it has a price. */
type QuotedPrice = Record<TokenKey, number> &
  Partial<Record<OwnTokenKey | UnitKey, number>> & { image?: number | Record<string, number> };

/** A price as callers are told it, in credits, markup included, at the base tier. */
export type PriceQuote = (price: ModelPrice) => QuotedPrice;

/** Tokens that are quoted where they cost something else than what they are a kind of. */
const ownTokens: readonly [key: OwnTokenKey, bucket: UsageBucket, kindOf: UsageBucket][] = [
  ["input_audio_mtok", "inputAudio", "input"],
  ["output_audio_mtok", "outputAudio", "output"],
  ["input_image_mtok", "inputImage", "input"],
  ["output_image_mtok", "outputImage", "output"],
];

/** Other units, by how many rates make a price. */
const otherUnits: readonly [key: UnitKey, bucket: UsageBucket, rates: bigint][] = [
  ["input_image", "inputImages", 1n],
  ["input_mchars", "inputCharacters", MTOK],
  ["input_audio_hours", "inputAudioMs", 1n],
  ["requests_kcount", "requests", KCOUNT],
];

export function priceQuote(markupMillionths: bigint): PriceQuote {
  const credits = (femto: Femto): number => creditsNumber(applyMarkup(roundUpToNano(femto), markupMillionths));
  const perMtok = (rate: TieredRate): number => credits(rate.base * MTOK);
  return ({ rates }) => ({
    input_mtok: perMtok(rates.input),
    output_mtok: perMtok(rates.output),
    cache_read_mtok: perMtok(rates.cacheRead),
    ...Object.fromEntries(
      ownTokens
        .filter(([, bucket, kindOf]) => rates[bucket].base !== rates[kindOf].base)
        .map(([key, bucket]) => [key, perMtok(rates[bucket])]),
    ),
    ...(rates.images.highest > 0n ? { image: imageQuote(rates.images, credits) } : {}),
    ...Object.fromEntries(
      otherUnits
        .filter(([, bucket]) => rates[bucket].highest > 0n)
        .map(([key, bucket, count]) => [key, credits(rates[bucket].base * count)]),
    ),
  });
}

function imageQuote(rate: TieredRate, credits: (femto: Femto) => number): number | Record<string, number> {
  if (rate.variants === undefined) return credits(rate.base);
  return Object.fromEntries([...rate.variants].map(([variant, each]) => [variant, credits(each)]));
}
