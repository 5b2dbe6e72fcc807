/** How much output the hold of a text generation covers, and the limit that its request gets. */
import type { WorkBound } from "../core/index.ts";
import type { ModelPrice } from "../pricing/index.ts";

/** The first hold of a stream whose output all passes by, in tokens: it is topped up as they pass. */
const STREAM_TOKENS = 2_048;

/** The fewest tokens that an answer is worth beginning for. A model that thinks needs more than a few words' worth. */
const USEFUL_TOKENS = 256;

/** The most that is held for an answer without a limit, and the limit that its request gets. */
const OUTPUT_TOKENS_ASSUMED = 32_768;

/** The output that is assumed of a model of which nothing is known. */
const UNKNOWN_MODEL_TOKENS = 8_192;

/** Tokens of output per choice. */
export interface OutputHold {
  /** Held if the credits suffice; else as many as they do suffice for. */
  wanted: number;
  /** The fewest that are held: for less, the call is refused. */
  least: number;
  /** The most that the model may write, of a stream that is topped up; undefined if all of it is held. */
  most?: number | undefined;
  /** Whether the request is limited to the held tokens: always, only if they are fewer than wanted, or never. */
  limits: "always" | "if-fewer" | "never";
  /** The request's own limit of all output that is billed, thought included; undefined if it has none. */
  ownLimit?: number | undefined;
}

/** The properties of a request that its hold depends on. */
export interface RequestedAnswer {
  price: ModelPrice;
  bound: WorkBound;
  streamed: boolean;
  /** Whether the upstream may bill thought that its stream does not contain. */
  hidesThought: boolean;
  /** Whether the bound's own limit leaves thought unlimited. */
  isAnswerOnly: boolean;
  /** The smallest limit that the upstream accepts. */
  limitMin: number;
}

/**
 * The output to hold. Of a stream whose output all passes by, that is a little: it is topped up by what has passed. Of
 * any other answer it is all that the request is limited to; a request without a limit gets one.
 */
export function outputHold(answer: RequestedAnswer): OutputHold {
  const { price, bound, streamed, hidesThought, isAnswerOnly, limitMin } = answer;
  const own = isAnswerOnly ? undefined : bound.outputTokens;
  const most = Math.min(own ?? Number.POSITIVE_INFINITY, modelMax(price, bound) ?? own ?? UNKNOWN_MODEL_TOKENS);
  const useful = Math.max(USEFUL_TOKENS, bound.outputTokensMin ?? 0, limitMin);
  // The price of passing text is unknown while another model may be writing it.
  if (streamed && !hidesThought && bound.alternatives === undefined) {
    const wanted = Math.min(most, STREAM_TOKENS);
    return { wanted, least: Math.min(wanted, useful), most, limits: "never", ownLimit: own };
  }
  // Thought beside a limited answer is bounded by the model alone.
  const wanted = own === undefined && !isAnswerOnly ? Math.min(most, OUTPUT_TOKENS_ASSUMED) : most;
  const { output, reasoning } = price.rates;
  const isFree = output.highest + reasoning.highest === 0n && bound.alternatives === undefined;
  const limits = bound.outputTokens === undefined ? "always" : "if-fewer";
  return { wanted, least: Math.min(wanted, useful), limits: isFree ? "never" : limits, ownLimit: own };
}

/** The most output of a model: its own maximum, else what its context window leaves; undefined if both are unknown. */
function modelMax({ contextWindow, maxOutputTokens }: ModelPrice, { inputTokens }: WorkBound): number | undefined {
  if (maxOutputTokens !== undefined) return Math.min(maxOutputTokens, contextWindow ?? maxOutputTokens);
  if (contextWindow === undefined) return undefined;
  // The bound of the input is several times the tokens of most texts.
  return Math.max(contextWindow - inputTokens, Math.ceil(contextWindow / 4));
}
