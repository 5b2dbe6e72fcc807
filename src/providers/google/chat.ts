import type { JsonObject } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { toolsOf, typeOf } from "../shared/hosted-tools.ts";
import { refusal } from "../shared/refusal.ts";

/** Google's OpenAI-compatible layer. It refuses fields of OpenAI that it doesn't know (`docs/wire/gemini.md`). */
const operation = chatOperation({
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
  // On some models, only `total_tokens` includes the thinking tokens.
  usage: { reasoningInCompletion: true, remainderIsReasoning: true, reportedCost: () => undefined },
  // Models since 2.5 think, and their streams contain a summary at most.
  outputLimit: chatLimit("max_completion_tokens", (model) => !/^(?:models\/)?gemini-(?:1|2\.0)/.test(model)),
  // Google's placeholder for a lost signature (`docs/wire/gemini.md`).
  facts: () => ({
    lostCallSignature: { google: { thought_signature: "skip_thought_signature_validator" } },
    efforts: ["none", "minimal", "low", "medium", "high"],
    thinkTags: true,
  }),
});

/** Searches that ground an answer are billed, and the compatible layer does not tell how many there were. */
function refuseHostedTools(body: JsonObject): undefined {
  const index = toolsOf(body).findIndex((tool) => typeOf(tool) !== "function");
  if (index !== -1) throw refusal(`tools.${index}`, "must be a function: Google's own tools are not available here.");
  return undefined;
}

export const chat: UpstreamOperation = { ...operation, extras: refuseHostedTools };
