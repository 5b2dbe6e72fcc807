import { applyMarkup, creditsNumber, type Femto, roundUpToNano } from "../core/index.ts";
import type { ModelPrice } from "./model-price.ts";

const MTOK = 1_000_000n;

/** A price as callers are told it: credits per million tokens, markup included, at the base tier. */
export type PriceQuote = (price: ModelPrice) => { input_mtok: number; output_mtok: number; cache_read_mtok: number };

export function priceQuote(markupMillionths: bigint): PriceQuote {
  return ({ rates }) => ({
    input_mtok: perMtok(rates.input.base, markupMillionths),
    output_mtok: perMtok(rates.output.base, markupMillionths),
    cache_read_mtok: perMtok(rates.cacheRead.base, markupMillionths),
  });
}

function perMtok(rate: Femto, markupMillionths: bigint): number {
  return creditsNumber(applyMarkup(roundUpToNano(rate * MTOK), markupMillionths));
}
