import { objectOf } from "../../core/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { openaiUsageRules } from "../shared/chat-usage.ts";

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  repeatsRole: true,
  usage: openaiUsageRules,
  // `max_tokens` bounds the answer alone; thought is part of the stream (`docs/wire/byteplus.md`).
  outputLimit: {
    ...chatLimit("max_completion_tokens", () => false),
    isAnswerOnly: ({ max_tokens, max_completion_tokens, thinking }) =>
      typeof max_tokens === "number" &&
      typeof max_completion_tokens !== "number" &&
      objectOf(thinking)?.["type"] !== "disabled",
  },
  facts: factsFrom(factRows.byteplus, "chat"),
});
