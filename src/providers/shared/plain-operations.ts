/** Operations that every upstream which has them does in OpenAI's way. */
import { listOf } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { requestUsage } from "./chat-operation.ts";
import { openaiUsageRules, readChatUsage } from "./chat-usage.ts";
import { readInputUsage } from "./embeddings-operation.ts";

/** The legacy completions of an upstream that has them. Their usage is that of chat. */
export const completionOperation: UpstreamOperation = {
  path: "/completions",
  edits: requestUsage,
  readUsage: (answer) => readChatUsage(answer, openaiUsageRules),
  isFailure: ({ error, choices }) => error !== undefined && error !== null && choices === undefined,
};

/** The moderations of an upstream that uses OpenAI's format. Most answers name no usage. */
export const moderationOperation: UpstreamOperation = {
  path: "/moderations",
  edits: () => [],
  readUsage: (answer) => readInputUsage(answer),
  isFailure: (answer) => listOf(answer["results"]).length === 0,
};
