import type { PresetName } from "../../config/index.ts";
import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { openaiFiles } from "../shared/files.ts";
import { chatOf } from "./chat.ts";
import { embeddingsOf } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { modelsOf } from "./models.ts";
import { type Preset, presets } from "./presets.ts";

export { choosePreset } from "./presets.ts";

/** Any upstream with OpenAI's chat completions; its differences are in its preset. */
export function openaiCompatible(presetName: PresetName): Provider {
  const preset: Preset = presets[presetName];
  return {
    priceProvider: preset.priceProvider,
    headers: bearer,
    operations: { chat: chatOf(presetName), ...embeddingsOf(preset), ...preset.audio, ...preset.others },
    ...(preset.files ? { files: openaiFiles({ isDefault: false }) } : {}),
    models: modelsOf(preset),
    failures,
  };
}
