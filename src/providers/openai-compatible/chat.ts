import type { UpstreamOperation } from "../provider.ts";
import { chatOperation } from "../shared/chat-operation.ts";
import type { Preset } from "./presets.ts";

export function chatOf({ streamUsage, drops, renames, usage, facts }: Preset): UpstreamOperation {
  return chatOperation({ path: "/chat/completions", streamUsage, drops, renames, usage, facts: () => facts });
}
