import { chatOperation } from "../shared/chat-operation.ts";
import { reportedCost } from "./cost.ts";

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: { reasoningInCompletion: false, remainderIsReasoning: false, reportedCost },
  facts: () => ({ reasoningField: "reasoning_content", efforts: ["none", "low", "medium", "high"] }),
});
