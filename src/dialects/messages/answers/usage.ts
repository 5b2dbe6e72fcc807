import { type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** The names of the figures that a stream's start and its end contain. */
const OUTPUT = "output_tokens";

/**
 * The figures of a stream's usage, which are in two events. Those of the later replace those of the earlier; null keeps
 * them (`docs/wire/anthropic.md`). Of the output, the start counts no more than a first token.
 */
export class StreamFigures {
  #figures: Record<string, unknown> = {};
  #firstOutput: unknown;

  start(usage: JsonObject): void {
    const { [OUTPUT]: first, ...others } = usage;
    this.#figures = {};
    this.#firstOutput = first;
    this.add(others);
  }

  add(usage: JsonObject): void {
    for (const [name, value] of Object.entries(usage)) {
      if (value !== null && value !== undefined) this.#figures[name] = value;
    }
  }

  /**
   * The figures so far. Those of the start are final if the stream has ended without any text, also zeros, which Anthropic
   * sends for a call of its own program (`test/recordings/`, 2786).
   */
  read(hasEndedSilent: boolean): JsonObject {
    const isFirst = hasEndedSilent && this.#figures[OUTPUT] === undefined && this.#firstOutput !== undefined;
    return isFirst ? { ...this.#figures, [OUTPUT]: this.#firstOutput } : this.#figures;
  }
}

/** Usage in Messages' counting: `input_tokens` excludes cached tokens, `output_tokens` includes reasoning. */
function countsOf(usage: Usage) {
  const { input = 0, inputAudio = 0, inputImage = 0, cacheRead = 0, cacheAudioRead = 0, cacheImageRead = 0 } = usage;
  const { cacheWrite5m = 0, cacheWrite1h = 0, reasoning = 0, outputImage = 0, webSearches = 0 } = usage;
  return {
    input_tokens: input + inputAudio + inputImage,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead + cacheAudioRead + cacheImageRead,
    output_tokens: outputTokens(usage),
    output_tokens_details: { thinking_tokens: reasoning, ...(outputImage === 0 ? {} : { image_tokens: outputImage }) },
    server_tool_use: webSearches === 0 ? null : { web_search_requests: webSearches, web_fetch_requests: 0 },
  };
}

/** The usage of a whole message, or an estimate at the start of a streamed one. */
export function writeMessageUsage(usage: Usage, serviceTier: string | undefined): JsonObject {
  return {
    ...writeDeltaUsage(usage),
    service_tier: serviceTier === "priority" ? "priority" : "standard",
    inference_geo: null,
  };
}

/** The usage at the end of a stream: the total, replacing the estimate. */
export function writeDeltaUsage(usage: Usage): JsonObject {
  const { cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  return {
    ...countsOf(usage),
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  };
}
