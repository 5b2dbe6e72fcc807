import { isOpaqueText, type SizeOf } from "../../bodies/index.ts";
import { tokensOfBytes, type WorkBound } from "../../core/index.ts";
import { boundInputs } from "../inputs.ts";
import type { CompletionRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["prompt", "suffix"] as const;

/** A body without a prompt continues the beginning of a document: one token. */
const noPrompt = { inputTokens: 1, inputBuckets: [], inputs: 1, expectedInput: { input: 1 } };

/** Every prompt has its own completions, and all that are generated are billed, not only those that are answered. */
export function boundCompletion(body: CompletionRequest, sizeOf: SizeOf): WorkBound {
  const { prompt, suffix, max_tokens: outputTokens, n, best_of: bestOf } = body;
  const { inputTokens, inputs, expectedInput, inputBuckets } = prompt == null ? noPrompt : boundInputs(prompt, sizeOf);
  const after = isOpaqueText(suffix) ? sizeOf(suffix) : 0;
  return {
    inputTokens: inputTokens + after,
    inputBuckets,
    inputs,
    expectedInput: { input: (expectedInput.input ?? 0) + tokensOfBytes(after) },
    outputTokens: outputTokens ?? undefined,
    choices: inputs * Math.max(n ?? 1, bestOf ?? 1),
  };
}
