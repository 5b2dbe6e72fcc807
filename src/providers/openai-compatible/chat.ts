import type { UpstreamOperation } from "../provider.ts";
import { chatLimit, chatOperation, tierExtras } from "../shared/chat-operation.ts";
import type { Preset } from "./presets.ts";

export function chatOf(preset: Preset): UpstreamOperation {
  const { streamUsage, drops, renames, usage, limitName, hidesThought, equalTiers, facts, purchases } = preset;
  return chatOperation({
    path: "/chat/completions",
    streamUsage,
    drops,
    renames,
    usage,
    outputLimit: chatLimit(limitName, () => hidesThought),
    ...purchases,
    ...(equalTiers.length === 0
      ? {}
      : { extras: (body) => (equalTiers.includes(String(body["service_tier"])) ? undefined : tierExtras(body)) }),
    // Any server of open models may show the thoughts of some of them in the content.
    facts: () => ({ thinkTags: true, ...facts }),
  });
}
