import { generatedKeys } from "../generated-bytes.ts";

/** content, reasoning_content, reasoning, refusal, arguments, text. */
export const chatKeys = generatedKeys("content", "reasoning", "refusal", "arguments", "text");
