import type { PresetName, ProviderDialect } from "../../config/index.ts";
import type { Provider } from "../provider.ts";
import { openaiFiles } from "../shared/files.ts";
import { mistralBatches } from "./batches-mistral.ts";
import { chatOf } from "./chat.ts";
import { embeddingsOf } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { modelsOf } from "./models.ts";
import { headersOf, nativeOf } from "./native.ts";
import { type Preset, presets } from "./presets.ts";

export { choosePreset } from "./presets.ts";

/** Any upstream with OpenAI's chat completions, or with `own` dialects; its differences are in its preset. */
export function openaiCompatible(presetName: PresetName, baseUrl: string, own?: readonly ProviderDialect[]): Provider {
  const preset: Preset = presets[presetName];
  const dialects = own ?? preset.dialects;
  const chat = chatOf(presetName, baseUrl);
  return {
    priceProvider: preset.priceProvider,
    headers: headersOf,
    operations: {
      chat,
      ...nativeOf(presetName, dialects, { baseUrl, chat }),
      ...embeddingsOf(preset),
      ...preset.audio,
      ...preset.others,
    },
    ...(preset.files ? { files: openaiFiles(false) } : {}),
    ...(presetName === "mistral" ? { batches: mistralBatches } : {}),
    models: modelsOf(preset),
    failures,
  };
}
