import { factRows, factsFrom } from "../facts/index.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { reportedCost } from "./cost.ts";
import { hidesThought } from "./thought.ts";

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: { reasoningInCompletion: false, remainderIsReasoning: false, reportedCost },
  outputLimit: chatLimit("max_completion_tokens", hidesThought),
  facts: factsFrom(factRows.xai, "chat"),
});
