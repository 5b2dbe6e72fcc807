import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** Figures of a later event replace earlier ones; null leaves them as they were (`docs/wire/anthropic.md`). */
export function mergeUsage(before: JsonObject, later: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(later)) {
    if (value !== null && value !== undefined) merged[name] = value;
  }
  return merged;
}

/** Bytes that make a token, on average. */
const BYTES_A_TOKEN = 4;

/**
 * The figures of a stream that has not named its last ones: it says at its start what went in, and of what comes out
 * only a first token; the rest is estimated. Undefined as long as nothing has come out: then nothing is owed.
 */
export function usageSoFar(figures: JsonObject, outputBytes: number): JsonObject | undefined {
  if (outputBytes === 0 || figures["input_tokens"] === undefined) return undefined;
  return { ...figures, output_tokens: Math.ceil(outputBytes / BYTES_A_TOKEN) };
}

/** What stands in for the upstream's figures as long as, or where, it names none. */
export interface UsageEstimate {
  inputTokens: number;
  outputTokens: number;
}

/** Usage as Messages counts it: `input_tokens` leaves out what the cache had, `output_tokens` holds the thoughts. */
function countsOf(usage: Usage | undefined, estimate: UsageEstimate) {
  // An upstream that counts nothing has not counted: no request is empty.
  const counted = usage !== undefined && inputTokens(usage) > 0 ? usage : { ...usage, input: estimate.inputTokens };
  const { input = 0, inputAudio = 0, cacheRead = 0, cacheAudioRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = counted;
  return {
    input_tokens: input + inputAudio,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead + cacheAudioRead,
    output_tokens: usage === undefined ? estimate.outputTokens : outputTokens(usage),
    output_tokens_details: { thinking_tokens: usage?.reasoning ?? 0 },
    server_tool_use: null,
  };
}

/** The usage of a message: of a whole one, or the estimate at the start of a streamed one. */
export function writeMessageUsage(
  usage: Usage | undefined,
  estimate: UsageEstimate,
  serviceTier: string | undefined,
): JsonObject {
  return {
    ...writeDeltaUsage(usage, estimate),
    service_tier: serviceTier === "priority" ? "priority" : "standard",
    inference_geo: null,
  };
}

/** The usage at the end of a stream: the whole of it, in place of the estimate. */
export function writeDeltaUsage(usage: Usage | undefined, estimate: UsageEstimate): JsonObject {
  const { cacheWrite5m = 0, cacheWrite1h = 0 } = usage ?? {};
  return {
    ...countsOf(usage, estimate),
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  };
}

/** OpenAI's word for a service tier of Anthropic's. */
export function readServiceTier(tier: unknown): string | undefined {
  if (tier === "standard") return "default";
  return tier === "priority" ? "priority" : undefined;
}
