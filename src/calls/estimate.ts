/** What a call can use, and what it has used where the upstream doesn't tell. */
import type { Usage } from "../core/index.ts";
import type { CallBound } from "../dialects/index.ts";
import { dearestInput, dearestOutput, type ModelPrice } from "../pricing/index.ts";

/** Output that is held for where neither the request nor the price layers set a limit. */
const OUTPUT_TOKENS_ASSUMED = 32_768;

/** Bytes of text that make a token, where an upstream leaves the counting to us. */
const BYTES_PER_TOKEN = 4;

/** The most that a call within its bound can use, as its dearest tokens. */
export function usageBound(price: ModelPrice, bound: CallBound): Usage {
  const window = price.contextWindow ?? Number.POSITIVE_INFINITY;
  const tokensIn = Math.min(bound.inputTokens, window * (bound.inputs ?? 1));
  const cap = bound.outputTokens ?? price.maxOutputTokens ?? Math.min(OUTPUT_TOKENS_ASSUMED, window);
  return {
    ...dearestInput(price, tokensIn),
    ...dearestOutput(price, Math.min(cap, window) * bound.choices),
    requests: 1,
  };
}

/** Usage estimated from lengths, for a call whose upstream named none. */
export function estimatedUsage(bound: CallBound, outputBytes: number): Usage {
  return {
    input: likelyInput(bound),
    output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
    requests: 1,
  };
}

/** The tokens that count towards a minute until a call has ended. */
export function likelyTokens(bound: CallBound): number {
  return likelyInput(bound) + (bound.outputTokens ?? 0) * bound.choices;
}

function likelyInput({ likelyInputTokens, inputTokens: bytes }: CallBound): number {
  return likelyInputTokens ?? Math.ceil(bytes / BYTES_PER_TOKEN);
}
