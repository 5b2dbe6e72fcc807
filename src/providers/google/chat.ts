import { type Effort, type JsonObject, objectOf, type RequestFeature, type ThoughtOptions } from "../../core/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import { chatLimit, chatOperation } from "../shared/chat-operation.ts";
import { refusal } from "../shared/refusal.ts";
import { mediaOf } from "./modalities.ts";

/** The models that show summaries of their thoughts, but not those that make images or speech. */
const shows = /^(?:models\/)?gemini-(?:2\.5|[3-9])(?!.*(?:image|tts|audio|live))/;

/** The generation that counts the tokens of its thoughts; later ones have levels. */
const hasBudget = /gemini-2/;

/** The largest budget that all models of that generation accept. */
const BUDGET_TOKENS_MAX = 24_576;

/** The budgets that a low level stands for, and those that neither it nor a high one does. */
const LOW_TOKENS_MAX = 4_096;
const MEDIUM_TOKENS_MAX = 10_240;

/** What `reasoning_effort` stands for there, by Google's documentation of its compatible layer. */
const budgets: Readonly<Record<string, number>> = { minimal: 1_024, low: 1_024, medium: 8_192 };

/** Thoughts are shown on demand; then the layer takes no `reasoning_effort` beside it (`docs/wire/gemini.md`). */
function askForThoughts(model: string, { effort, budgetTokens }: ThoughtOptions): JsonObject {
  const amount = hasBudget.test(model) ? budgetOf(effort, budgetTokens) : levelOf(effort, budgetTokens);
  return { extra_body: { google: { thinking_config: { include_thoughts: true, ...amount } } } };
}

function budgetOf(effort: Effort | undefined, budgetTokens: number | undefined): JsonObject {
  const tokens = tokensOf(effort, budgetTokens);
  return tokens === undefined ? {} : { thinking_budget: Math.min(tokens, BUDGET_TOKENS_MAX) };
}

function tokensOf(effort: Effort | undefined, budgetTokens: number | undefined): number | undefined {
  return budgetTokens ?? (effort === undefined ? undefined : (budgets[effort] ?? BUDGET_TOKENS_MAX));
}

/** Low and high are the levels that all models have; in between, the model decides. */
function levelOf(effort: Effort | undefined, budgetTokens: number | undefined): JsonObject {
  const tokens = tokensOf(effort, budgetTokens);
  if (tokens === undefined || (tokens > LOW_TOKENS_MAX && tokens <= MEDIUM_TOKENS_MAX)) return {};
  return { thinking_level: tokens <= LOW_TOKENS_MAX ? "low" : "high" };
}

/** Google's own members of a chat body that buy nothing. */
const ownMembers: ReadonlySet<string> = new Set([
  "thinking_config",
  "thought_tag_marker",
  "cached_content",
  "safety_settings",
]);

/**
 * Google's own tools would be in a member of its own: searches that ground an answer are billed, and the compatible layer
 * does not tell how many there were.
 */
function refuseOwnTools({ extra_body }: JsonObject): undefined {
  const name = Object.keys(objectOf(objectOf(extra_body)?.["google"]) ?? {}).find((each) => !ownMembers.has(each));
  if (name === undefined) return undefined;
  throw refusal(`extra_body.google.${name.slice(0, 80)}`, `only ${[...ownMembers].join(", ")} are known here.`);
}

/** What only Google's own API takes, as far as a model has it. */
function lackedBy(model: string): readonly RequestFeature[] {
  return mediaOf(model).includes("IMAGE") ? [...lacked, "pictures"] : lacked;
}

const lacked: readonly RequestFeature[] = ["documents", "search", "signature"];

/** Google's OpenAI-compatible layer. It refuses fields of OpenAI that it doesn't know (`docs/wire/gemini.md`). */
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
  extras: refuseOwnTools,
  ignores: lackedBy,
  hasIrregularStream: true,
  repeatsRole: true,
  // On some models, only `total_tokens` includes the thinking tokens.
  usage: { reasoningInCompletion: true, remainderIsReasoning: true, reportedCost: () => undefined },
  // Models since 2.5 think, and their streams contain a summary at most.
  outputLimit: chatLimit("max_completion_tokens", (model) => !/^(?:models\/)?gemini-(?:1|2\.0)/.test(model)),
  facts: factsFrom(factRows.google, "chat", (model) =>
    shows.test(model) ? { askForThoughts: (asked) => askForThoughts(model, asked) } : {},
  ),
});
