import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../../core/index.ts";

/** Usage in Google's counting: cached tokens are part of the prompt, thoughts are not part of the candidates. */
export function writeUsage(usage: Usage): JsonObject {
  const { cacheRead = 0, cacheAudioRead = 0, cacheImageRead = 0, inputAudio = 0, inputImage = 0 } = usage;
  const { reasoning = 0, outputImage = 0, outputAudio = 0 } = usage;
  const prompt = inputTokens(usage);
  const output = outputTokens(usage);
  const candidates = output - reasoning;
  const [image, audio] = [inputImage + cacheImageRead, inputAudio + cacheAudioRead];
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + output,
    ...given("cachedContentTokenCount", cacheRead + cacheAudioRead + cacheImageRead),
    ...given("thoughtsTokenCount", reasoning),
    promptTokensDetails: details({ TEXT: prompt - image - audio, IMAGE: image, AUDIO: audio }),
    candidatesTokensDetails: details({
      TEXT: candidates - outputImage - outputAudio,
      IMAGE: outputImage,
      AUDIO: outputAudio,
    }),
  };
}

/** Zeros are left out. */
function given(name: string, tokens: number): JsonObject {
  return tokens === 0 ? {} : { [name]: tokens };
}

function details(byModality: Readonly<Record<string, number>>): JsonObject[] {
  return Object.entries(byModality).flatMap(([modality, tokenCount]) =>
    tokenCount === 0 ? [] : [{ modality, tokenCount }],
  );
}
