import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { openaiUsageRules } from "../shared/chat-usage.ts";
import { hidesThought } from "./thought.ts";

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: openaiUsageRules,
  outputLimit: chatLimit("max_completion_tokens", hidesThought),
  facts: () => ({ developerRole: true }),
});
