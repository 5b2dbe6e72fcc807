import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** Figures of a later event replace earlier ones; null keeps them (`docs/wire/anthropic.md`). */
export function mergeUsage(before: JsonObject, later: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(later)) {
    if (value !== null && value !== undefined) merged[name] = value;
  }
  return merged;
}

/** The average bytes per token. */
const BYTES_A_TOKEN = 4;

/**
 * The usage of a stream without its final figures: the start contains the input, and of the output only a first token;
 * the rest is estimated. Undefined before any output: then nothing is charged.
 */
export function usageSoFar(figures: JsonObject, outputBytes: number): JsonObject | undefined {
  if (outputBytes === 0 || figures["input_tokens"] === undefined) return undefined;
  return { ...figures, output_tokens: Math.ceil(outputBytes / BYTES_A_TOKEN) };
}

/**
 * The usage of a stream that has stopped without final figures: those of its start are final then, also zeros, which
 * Anthropic sends for a call of its own program (`test/recordings/`, 2786). Undefined if the start has none.
 */
export function usageAtStop(figures: JsonObject, outputBytes: number): JsonObject | undefined {
  const { output_tokens: counted } = figures;
  if (typeof counted !== "number") return usageSoFar(figures, outputBytes);
  return { ...figures, output_tokens: Math.max(counted, Math.ceil(outputBytes / BYTES_A_TOKEN)) };
}

/** Replaces the upstream's figures until they arrive, or if there are none. */
export interface UsageEstimate {
  inputTokens: number;
  outputTokens: number;
}

/** Usage in Messages' counting: `input_tokens` excludes cached tokens, `output_tokens` includes reasoning. */
function countsOf(usage: Usage | undefined, estimate: UsageEstimate) {
  // Zero means uncounted: no request is empty.
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

/** The usage at the end of a stream: the total, replacing the estimate. */
export function writeDeltaUsage(usage: Usage | undefined, estimate: UsageEstimate): JsonObject {
  const { cacheWrite5m = 0, cacheWrite1h = 0 } = usage ?? {};
  return {
    ...countsOf(usage, estimate),
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  };
}
