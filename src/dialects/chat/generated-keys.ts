import { generatedKeys } from "../generated-bytes.ts";

/** content, reasoning_content, reasoning, refusal, arguments, text. */
export const chatKeys = generatedKeys(
  ["content", "reasoning", "refusal", "arguments", "text"],
  // Pages that the answer quotes, what a provider's tools have done, and two other forms of the thought.
  ["annotations", "executed_tools", "reasoning_details", "encrypted_content"],
);
