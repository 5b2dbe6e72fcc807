import { factRows, factsFrom } from "../facts/index.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { openaiUsageRules } from "../shared/chat-usage.ts";
import { hidesThought } from "./messages.ts";

/** Anthropic's OpenAI-compatible layer. */
export const chat = chatOperation({
  path: "/v1/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  ignores: () => ["format", "effort"],
  facts: factsFrom(factRows.anthropic, "chat"),
  usage: openaiUsageRules,
  outputLimit: chatLimit("max_completion_tokens", hidesThought),
});
