import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** Usage in Responses' counting: cached tokens are part of the input, reasoning is part of the output. */
export function writeUsage(usage: Usage): JsonObject {
  const { cacheRead = 0, cacheAudioRead = 0, cacheImageRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  const { inputImage = 0, inputAudio = 0, reasoning = 0, outputImage = 0, outputAudio = 0 } = usage;
  const [input, output] = [inputTokens(usage), outputTokens(usage)];
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheRead + cacheAudioRead + cacheImageRead,
      cache_write_tokens: cacheWrite5m + cacheWrite1h,
      ...ofMedia(inputImage + cacheImageRead, inputAudio + cacheAudioRead),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning, ...ofMedia(outputImage, outputAudio) },
    total_tokens: input + output,
  };
}

/** As in OpenAI's other dialects; there only if there are some. */
function ofMedia(image: number, audio: number): JsonObject {
  return { ...(image === 0 ? {} : { image_tokens: image }), ...(audio === 0 ? {} : { audio_tokens: audio }) };
}
