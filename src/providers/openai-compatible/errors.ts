import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

/**
 * DeepSeek's 402 has no specific code. Moonshot and Groq report overload under different statuses
 * (`docs/wire/others.md`).
 */
export const failures: FailureRules = {
  ...commonFailures,
  quotaGone: [...commonFailures.quotaGone, { statuses: [402], message: /^Insufficient Balance/i }],
  modelGone: [
    ...commonFailures.modelGone,
    { statuses: [400], codes: /^(?:invalid_model|1500)$/ },
    // Ollama's and vLLM's.
    { statuses: [404], message: /^(?:model ["'`]?\S+ not found|The model `\S+` does not exist)/ },
  ],
  contextWindow: [
    ...commonFailures.contextWindow,
    { statuses: [400], codes: /^too_many_prompt_tokens$/ },
    {
      statuses: [400, 422],
      message:
        /^(?:This model's maximum context length is|prompt too long; exceeded max context length|Prompt contains \d+ tokens|(?:Invalid request: )?Your request exceeded model token limit)/,
    },
  ],
  retryable: [{ statuses: [429, 498, 503], codes: /^(?:engine_overloaded_error|capacity_exceeded)$/ }],
};
