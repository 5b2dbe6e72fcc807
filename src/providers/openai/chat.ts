import { chatOperation } from "../shared/chat-operation.ts";
import { openaiUsageRules } from "../shared/chat-usage.ts";

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: openaiUsageRules,
  facts: () => ({ developerRole: true }),
});
