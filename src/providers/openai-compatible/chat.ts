import type { PresetName } from "../../config/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { chatLimit, chatOperation, tierExtras } from "../shared/chat-operation.ts";
import { besideVersion, type Preset, presets } from "./presets.ts";

export function chatOf(name: PresetName, baseUrl: string): UpstreamOperation {
  const preset: Preset = presets[name];
  const { streamUsage, drops, renames, usage, limitName, hidesThought, equalTiers, tierNames, purchases } = preset;
  const { prefillBase } = preset;

  const operation = chatOperation({
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
  return prefillBase === undefined
    ? operation
    : { ...operation, forPrefill: { ...operation, baseUrl: besideVersion(baseUrl, prefillBase) } };
}
