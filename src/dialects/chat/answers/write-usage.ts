import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** Usage in chat's counting: cached tokens are part of the prompt, reasoning is part of the completion. */
export function writeChatUsage(usage: Usage): JsonObject {
  const { cacheRead = 0, cacheAudioRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  const { inputAudio = 0, outputAudio = 0, reasoning = 0, inputImage = 0, cacheImageRead = 0, outputImage = 0 } = usage;
  const { webSearches = 0 } = usage;
  const imagesIn = inputImage + cacheImageRead;
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cacheRead + cacheAudioRead + cacheImageRead,
      audio_tokens: inputAudio + cacheAudioRead,
      cache_write_tokens: cacheWrite5m + cacheWrite1h,
      ...(imagesIn === 0 ? {} : { image_tokens: imagesIn }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: outputAudio,
      ...(outputImage === 0 ? {} : { image_tokens: outputImage }),
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    ...(webSearches === 0 ? {} : { server_tool_use: { web_search_requests: webSearches } }),
  };
}
