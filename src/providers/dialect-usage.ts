/** Readers of usage in each dialect as its own maker counts, for answers that the gateway has written. */
import type { Dialect, JsonObject, ObservedUsage } from "../core/index.ts";
import { openai } from "./openai/index.ts";
import { openaiUsageRules, readChatUsage } from "./shared/chat-usage.ts";
import { readMessagesUsage } from "./shared/messages-usage.ts";

type UsageReader = (answer: JsonObject) => ObservedUsage | undefined;

export const usageReaders: Readonly<Record<Exclude<Dialect, "gemini">, UsageReader>> = {
  chat: (answer) => readChatUsage(answer, openaiUsageRules),
  messages: readMessagesUsage,
  responses: (answer) => openai.operations.responses?.readUsage(answer),
};
