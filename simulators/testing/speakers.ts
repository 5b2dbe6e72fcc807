import type { SimulatorName } from "../index.ts";
import type { JsonObject } from "../shared/json.ts";
import { dialects } from "./dialects.ts";

/** One provider in one of its dialects, as the scenarios need it. */
export interface Speaker {
  readonly provider: SimulatorName;
  readonly dialect: keyof typeof dialects;
  readonly path: string;
  readonly model: string;
  /** Where another model is needed to see. */
  readonly visionModel?: string;
  /** The option that makes it think. */
  readonly thinking: JsonObject;
  /** Its thoughts can be read. */
  readonly thoughtsShown: boolean;
  readonly takesSchema: boolean;
  readonly takesStop: boolean;
  /** A refusal contains its reason as text. */
  readonly refusalText: boolean;
  /** How a refusal ends. */
  readonly refusalFinish: "stop" | "refusal";
  /** The option that adds log probabilities, if supported. */
  readonly likely?: JsonObject;
  /** Members with which a stream reports its usage. */
  readonly streamed: JsonObject;
}

const usual = {
  dialect: "chat",
  path: "/chat/completions",
  thinking: { reasoning_effort: "high" },
  thoughtsShown: true,
  takesSchema: true,
  takesStop: true,
  refusalText: false,
  refusalFinish: "refusal",
  streamed: { stream: true, stream_options: { include_usage: true } },
} as const satisfies Partial<Speaker>;

const thinkingEnabled = { thinking: { type: "enabled" } };

const responses = {
  ...usual,
  dialect: "responses",
  path: "/responses",
  thinking: {
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
  },
  takesStop: false,
  refusalText: true,
  streamed: { stream: true },
} as const satisfies Partial<Speaker>;

/** Every provider in every dialect that it speaks. */
export const speakers: readonly Speaker[] = [
  {
    ...usual,
    provider: "openai",
    model: "gpt-4o-mini",
    thoughtsShown: false,
    refusalText: true,
    likely: { logprobs: true, top_logprobs: 2 },
  },
  {
    ...usual,
    provider: "google",
    model: "gemini-2.5-flash",
    path: "/v1beta/openai/chat/completions",
    thoughtsShown: false,
  },
  { ...usual, provider: "xai", model: "grok-next" },
  {
    ...usual,
    provider: "deepseek",
    model: "deepseek-chat",
    visionModel: "deepseek-v4-flash-vision-exp",
    thinking: thinkingEnabled,
    takesSchema: false,
  },
  {
    ...usual,
    provider: "anthropic",
    model: "claude-haiku-4-5",
    path: "/v1/chat/completions",
    thinking: thinkingEnabled,
    thoughtsShown: false,
    takesSchema: false,
  },
  {
    ...usual,
    provider: "mistral",
    model: "mistral-small-latest",
    refusalText: true,
    refusalFinish: "stop",
    streamed: { stream: true },
  },
  { ...usual, provider: "byteplus", model: "seed-1-6-250915", thinking: thinkingEnabled },
  { ...usual, provider: "openai-compatible", model: "local-small", refusalText: true, refusalFinish: "stop" },
  {
    ...usual,
    provider: "anthropic",
    dialect: "messages",
    path: "/v1/messages",
    model: "claude-haiku-4-5",
    thinking: { thinking: { type: "enabled", budget_tokens: 1_024 } },
    refusalText: true,
    streamed: { stream: true },
  },
  {
    ...responses,
    provider: "openai",
    model: "gpt-5-mini",
    likely: { include: ["message.output_text.logprobs"], top_logprobs: 2 },
  },
  { ...responses, provider: "xai", model: "grok-next" },
  { ...responses, provider: "byteplus", model: "seed-1-6-250915", refusalText: false },
];
