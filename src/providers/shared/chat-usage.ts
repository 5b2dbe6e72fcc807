import { type JsonObject, listOf, objectOf, type ObservedUsage, type Usage } from "../../core/index.ts";

import { countOf, toldCount, uncountedOf } from "./json.ts";
import { type TierNames, tierOf, withTier } from "./terms.ts";

/** The differences between providers of the chat dialect in their counts. */
export interface ChatUsageRules {
  /** Whether `completion_tokens` includes the reasoning tokens (OpenAI) or excludes them (xAI, Perplexity). */
  reasoningInCompletion: boolean;
  /** Whether tokens that are only in `total_tokens` are reasoning tokens (Google). */
  remainderIsReasoning: boolean;
  /** The real price that the upstream reports, in nano-credits. */
  reportedCost: (usage: JsonObject) => bigint | undefined;
  /** The work of hosted tools that the usage counts. */
  toolUnits?: (usage: JsonObject) => Usage;
  /** Further names of its service tiers. */
  tierNames?: TierNames;
  /** Whether another model than the requested one may answer; `model` of the answer names it. */
  namesModel?: true;
}

export const openaiUsageRules: ChatUsageRules = {
  reasoningInCompletion: true,
  remainderIsReasoning: false,
  reportedCost: () => undefined,
};

/** Finds the usage object of a whole answer or a chunk, in any of the places where chat upstreams put it. */
function findChatUsage(answer: JsonObject): JsonObject | undefined {
  const [choice] = listOf(answer["choices"]);
  return (
    objectOf(answer["usage"]) ??
    objectOf(objectOf(choice)?.["usage"]) ??
    objectOf(objectOf(answer["x_groq"])?.["usage"])
  );
}

const cachedSpellings = ["prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens"] as const;

/** Reads the first spelling of "cached tokens" that is present. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  if (typeof details["cached_tokens"] === "number") return countOf(details["cached_tokens"]);
  for (const spelling of cachedSpellings) if (typeof usage[spelling] === "number") return countOf(usage[spelling]);
  return 0;
}

/**
 * The counts that are part of `prompt_tokens`. A count that does not fit into the remainder stands beside it: cached tokens
 * of Grok on Azure, cache writes of OpenRouter (`test/recordings/`, 1633 and 841).
 */
class PromptParts {
  #rest: number;

  constructor(prompt: number) {
    this.#rest = prompt;
  }

  /** The tokens that no count has taken. */
  get rest(): number {
    return this.#rest;
  }

  /** Takes a count out of the prompt, if it is part of it. Returns the count. */
  take(count: number): number {
    if (count <= this.#rest) this.#rest -= count;
    return count;
  }
}

/** Reads chat usage into disjoint buckets. Undefined if the answer contains none, or one that counts nothing. */
export function readChatUsage(answer: JsonObject, rules: ChatUsageRules): ObservedUsage | undefined {
  const usage = findChatUsage(answer);
  if (usage === undefined) return undefined;
  const told = { prompt: toldCount(usage["prompt_tokens"]), completion: toldCount(usage["completion_tokens"]) };
  const { prompt = 0, completion = 0 } = told;
  const isTold = told.prompt !== undefined && told.completion !== undefined;
  const remainder = isTold ? countOf(usage["total_tokens"]) - prompt - completion : 0;
  const written = writtenTokens(usage, rules, { told: told.completion, remainder });
  const reportedCost = rules.reportedCost(usage);
  // `{}`, zeros or words count nothing: the usage is then estimated from the text.
  if (prompt + completion + written.reasoning === 0 && reportedCost === undefined) return undefined;
  const counted = wholeUsage(written, usage, { prompt, remainder });
  if (rules.toolUnits !== undefined) Object.assign(counted, rules.toolUnits(usage));
  const observed: ObservedUsage = { usage: counted };
  if (!isTold) Object.assign(observed, uncountedOf(told.prompt, told.completion));
  if (reportedCost !== undefined) observed.reportedCost = reportedCost;
  if ((observed.usage.cacheWrite5m ?? 0) > 0) observed.hasUnsplitWrites = true;
  const { model } = answer;
  if (rules.namesModel === true && typeof model === "string") observed.answeredBy = model;
  return withTier(observed, tierOf(answer), rules.tierNames);
}

/** The whole usage: the parts of the prompt, and what was written. */
function wholeUsage(
  written: Usage,
  usage: JsonObject,
  { prompt, remainder }: { prompt: number; remainder: number },
): Usage {
  const details = objectOf(usage["prompt_tokens_details"]) ?? objectOf(usage["prompt_token_details"]) ?? {};
  const parts = new PromptParts(prompt);
  const cacheRead = parts.take(cachedTokens(usage, details));
  const cacheWrite5m = parts.take(countOf(details["cache_write_tokens"]));
  const audio = countOf(details["audio_tokens"]);
  // Mistral counts audio beside the prompt, which only the total shows.
  const inputAudio = audio > 0 && audio === remainder ? audio : parts.take(audio);
  const inputImage = parts.take(Math.min(countOf(details["image_tokens"]), parts.rest));
  const counted: Usage = { input: parts.rest, cacheRead, cacheWrite5m, inputAudio, ...written, requests: 1 };
  if (inputImage > 0) counted.inputImage = inputImage;
  return counted;
}

/** The parts of the completion, with the reasoning beside it; `remainder` is what only the total counts. */
function writtenTokens(
  usage: JsonObject,
  { reasoningInCompletion, remainderIsReasoning }: ChatUsageRules,
  { told, remainder }: { told: number | undefined; remainder: number },
): Usage & { reasoning: number } {
  const details = objectOf(usage["completion_tokens_details"]) ?? {};
  const listed = countOf(details["reasoning_tokens"] ?? usage["reasoning_tokens"]);
  // A completion that is not counted includes nothing either.
  if (told === undefined) return { reasoning: listed };
  const isRemainder = remainderIsReasoning && remainder > 0;
  const included = reasoningInCompletion && !isRemainder ? Math.min(listed, told) : undefined;
  const text = told - (included ?? 0);
  const outputAudio = Math.min(countOf(details["audio_tokens"]), text);
  const outputImage = Math.min(countOf(details["image_tokens"]), text - outputAudio);
  const reasoning = included ?? (isRemainder ? remainder : listed);
  const output = text - outputAudio - outputImage;
  return outputImage === 0 ? { output, reasoning, outputAudio } : { output, reasoning, outputAudio, outputImage };
}
