import type { PresetName } from "../../config/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { chatLimit, chatOperation, tierExtras } from "../shared/chat-operation.ts";
import { type Preset, presets } from "./presets.ts";

export function chatOf(name: PresetName): UpstreamOperation {
  const preset: Preset = presets[name];
  const { streamUsage, drops, renames, usage, limitName, hidesThought, equalTiers, tierNames, purchases } = preset;

  return chatOperation({
    path: "/chat/completions",
    streamUsage,
    drops,
    renames,
    usage,
    outputLimit: chatLimit(limitName, () => hidesThought),
    ...purchases,
    // OpenRouter, Ollama, Perplexity and Together do; any other server may.
    repeatsRole: true,
    ...(equalTiers.length === 0
      ? {}
      : { extras: (body) => (equalTiers.includes(String(body["service_tier"])) ? undefined : tierExtras(body)) }),
    facts: factsFrom(factRows[name], "chat", () => (tierNames === undefined ? {} : { tierNames })),
  });
}
