import type { UpstreamOperation } from "../provider.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import type { Preset } from "./presets.ts";

export function chatOf({
  streamUsage,
  drops,
  renames,
  usage,
  limitName,
  hidesThought,
  facts,
}: Preset): UpstreamOperation {
  return chatOperation({
    path: "/chat/completions",
    streamUsage,
    drops,
    renames,
    usage,
    outputLimit: chatLimit(limitName, () => hidesThought),
    facts: () => facts,
  });
}
