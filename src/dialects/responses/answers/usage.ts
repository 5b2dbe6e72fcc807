import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";
import type { ClientContext } from "../../conversation/index.ts";

/** Characters per token, about: for an answer whose upstream reports no usage. */
const CHARACTERS_A_TOKEN = 4;

/**
 * Usage in Responses' counting: cached tokens are part of the input, reasoning is part of the output. Clients require
 * it at the end of every answer: if the upstream reports none, it is estimated from `characters`, the generated
 * characters.
 */
export function writeUsage(usage: Usage | undefined, client: ClientContext, characters: number): JsonObject {
  const { cacheRead = 0, cacheAudioRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, reasoning = 0 } = usage ?? {};
  // Zero means uncounted: no request is empty.
  const input = (usage === undefined ? 0 : inputTokens(usage)) || Math.max(1, client.inputTokensEstimate);
  const output = usage === undefined ? Math.max(1, Math.ceil(characters / CHARACTERS_A_TOKEN)) : outputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheRead + cacheAudioRead,
      cache_write_tokens: cacheWrite5m + cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
