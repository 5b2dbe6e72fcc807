import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";

import { countOf } from "./json.ts";
import { tierOf, withTier } from "./terms.ts";

/** The differences between providers of the chat dialect in their counts. */
export interface ChatUsageRules {
  /** Whether `completion_tokens` includes the reasoning tokens (OpenAI) or excludes them (xAI, Perplexity). */
  reasoningInCompletion: boolean;
  /** Whether tokens that are only in `total_tokens` are reasoning tokens (Google). */
  remainderIsReasoning: boolean;
  /** The real price that the upstream reports, in nano-credits. */
  reportedCost: (usage: JsonObject) => bigint | undefined;
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

/** Reads the first spelling of "cached tokens" that is present. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  const spellings = [
    details["cached_tokens"],
    usage["prompt_cache_hit_tokens"],
    usage["num_cached_tokens"],
    usage["cached_tokens"],
  ];
  return countOf(spellings.find((value) => typeof value === "number"));
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
  const promptDetails = objectOf(usage["prompt_tokens_details"]) ?? objectOf(usage["prompt_token_details"]) ?? {};
  const completionDetails = objectOf(usage["completion_tokens_details"]) ?? {};

  const prompt = countOf(usage["prompt_tokens"]);
  const completion = countOf(usage["completion_tokens"]);
  const listed = countOf(completionDetails["reasoning_tokens"] ?? usage["reasoning_tokens"]);
  const remainder = countOf(usage["total_tokens"]) - prompt - completion;
  const reasoning = rules.remainderIsReasoning && remainder > 0 ? remainder : listed;
  const isOutside = !rules.reasoningInCompletion || (rules.remainderIsReasoning && remainder > 0);
  const included = isOutside ? 0 : Math.min(reasoning, completion);
  const outputAudio = Math.min(countOf(completionDetails["audio_tokens"]), completion - included);
  const outputImage = Math.min(countOf(completionDetails["image_tokens"]), completion - included - outputAudio);

  const parts = new PromptParts(prompt);
  const cacheRead = parts.take(cachedTokens(usage, promptDetails));
  const cacheWrite5m = parts.take(countOf(promptDetails["cache_write_tokens"]));
  const audio = countOf(promptDetails["audio_tokens"]);
  // Mistral counts audio beside the prompt, which only the total shows.
  const inputAudio = audio > 0 && audio === remainder ? audio : parts.take(audio);
  const inputImage = parts.take(Math.min(countOf(promptDetails["image_tokens"]), parts.rest));

  const reportedCost = rules.reportedCost(usage);
  // `{}`, zeros or words count nothing: the usage is then estimated from the text.
  if (prompt + completion + reasoning === 0 && reportedCost === undefined) return undefined;
  const observed: ObservedUsage = {
    usage: {
      input: parts.rest,
      cacheRead,
      cacheWrite5m,
      inputAudio,
      ...(inputImage === 0 ? {} : { inputImage }),
      output: completion - included - outputAudio - outputImage,
      reasoning: isOutside ? reasoning : included,
      outputAudio,
      ...(outputImage === 0 ? {} : { outputImage }),
      requests: 1,
    },
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
  return withTier(observed, tierOf(answer));
}
