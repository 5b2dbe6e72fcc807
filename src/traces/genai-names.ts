/**
 * OpenTelemetry's names for generative AI, all of them "in development": the latest, and those of version 1.36, from before they were
 * renamed. https://github.com/open-telemetry/semantic-conventions-genai (latest: cache_write instead of cache_creation),
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.36.0/docs/gen-ai
 */
import type { Operation } from "../core/index.ts";

/** An absent name has no counterpart in that version. */
export interface GenAiNames {
  operation: string;
  provider: string;
  requestModel: string;
  maxTokens: string;
  inputTokens: string;
  outputTokens: string;
  conversation: string;
  /** Of none of the conventions: Langfuse and others read it. */
  cost: string;
  stream?: string;
  firstChunkSeconds?: string;
  cacheRead?: string;
  cacheWrite?: string;
  reasoning?: string;
  systemInstructions?: string;
  inputMessages?: string;
  outputMessages?: string;
  /** Providers whose value is not their name here. */
  providers: Readonly<Record<string, string>>;
}

const common = {
  operation: "gen_ai.operation.name",
  requestModel: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  conversation: "gen_ai.conversation.id",
  cost: "gen_ai.usage.cost",
};

export const genAiNames: Readonly<Record<"latest" | "1.36", GenAiNames>> = {
  latest: {
    ...common,
    provider: "gen_ai.provider.name",
    stream: "gen_ai.request.stream",
    firstChunkSeconds: "gen_ai.response.time_to_first_chunk",
    cacheRead: "gen_ai.usage.cache_read.input_tokens",
    cacheWrite: "gen_ai.usage.cache_write.input_tokens",
    reasoning: "gen_ai.usage.reasoning.output_tokens",
    systemInstructions: "gen_ai.system_instructions",
    inputMessages: "gen_ai.input.messages",
    outputMessages: "gen_ai.output.messages",
    providers: { google: "gcp.gemini", mistral: "mistral_ai", xai: "x_ai", moonshot: "moonshot_ai" },
  },
  "1.36": {
    ...common,
    provider: "gen_ai.system",
    providers: { google: "gcp.gemini", mistral: "mistral_ai", xai: "xai" },
  },
};

const TEXT_OPERATIONS: Readonly<Partial<Record<Operation, string>>> = {
  chat: "chat",
  messages: "chat",
  responses: "chat",
  gemini: "generate_content",
  completion: "text_completion",
};

/** The conventions' name of an operation; those that they do not know have their own. */
export function genAiOperation(operation: Operation): string {
  return TEXT_OPERATIONS[operation] ?? operation;
}
