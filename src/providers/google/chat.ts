import { chatOperation } from "../shared/chat-operation.ts";

/** Google's OpenAI-compatible layer. It refuses OpenAI's fields that it doesn't know (`docs/wire/gemini.md`). */
export const chat = chatOperation({
  path: "/v1beta/openai/chat/completions",
  streamUsage: "on-request",
  drops: [
    "store",
    "metadata",
    "parallel_tool_calls",
    "logit_bias",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "user",
    "verbosity",
  ],
  renames: {},
  // Thinking tokens are in `total_tokens` alone on some models.
  usage: { reasoningInCompletion: true, restOfTotalIsReasoning: true, reportedCost: () => undefined },
  // Its own word for a signature that got lost (`docs/wire/gemini.md`).
  facts: () => ({
    lostCallSignature: { google: { thought_signature: "skip_thought_signature_validator" } },
    efforts: ["none", "minimal", "low", "medium", "high"],
  }),
});
