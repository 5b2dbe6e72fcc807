import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";

import { countOf } from "./json.ts";

/** Where providers of the chat dialect differ in what they count. */
export interface ChatUsageRules {
  /** Whether `completion_tokens` holds the reasoning tokens (OpenAI) or leaves them out (xAI, Perplexity). */
  reasoningInCompletion: boolean;
  /** Whether tokens that only `total_tokens` holds are reasoning that was left out elsewhere (Google). */
  restOfTotalIsReasoning: boolean;
  /** The real price that the upstream names, in nano-credits. */
  reportedCost: (usage: JsonObject) => bigint | undefined;
}

export const openaiUsageRules: ChatUsageRules = {
  reasoningInCompletion: true,
  restOfTotalIsReasoning: false,
  reportedCost: () => undefined,
};

/** The usage object of a whole answer or of a chunk, in the places where chat upstreams put it. */
function findChatUsage(answer: JsonObject): JsonObject | undefined {
  const [choice] = listOf(answer["choices"]);
  return (
    objectOf(answer["usage"]) ??
    objectOf(objectOf(choice)?.["usage"]) ??
    objectOf(objectOf(answer["x_groq"])?.["usage"])
  );
}

/** The first spelling of "cached tokens" that is there. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  const spellings = [
    details["cached_tokens"],
    usage["prompt_cache_hit_tokens"],
    usage["num_cached_tokens"],
    usage["cached_tokens"],
  ];
  return countOf(spellings.find((value) => typeof value === "number"));
}

/** Reads chat usage into disjoint buckets. Undefined where the answer holds none. */
export function readChatUsage(answer: JsonObject, rules: ChatUsageRules): ObservedUsage | undefined {
  const usage = findChatUsage(answer);
  if (usage === undefined) return undefined;
  const promptDetails = objectOf(usage["prompt_tokens_details"]) ?? objectOf(usage["prompt_token_details"]) ?? {};
  const completionDetails = objectOf(usage["completion_tokens_details"]) ?? {};

  const prompt = countOf(usage["prompt_tokens"]);
  const cacheRead = Math.min(cachedTokens(usage, promptDetails), prompt);
  const cacheWrite5m = Math.min(countOf(promptDetails["cache_write_tokens"]), prompt - cacheRead);
  const inputAudio = Math.min(countOf(promptDetails["audio_tokens"]), prompt - cacheRead - cacheWrite5m);

  const completion = countOf(usage["completion_tokens"]);
  const said = countOf(completionDetails["reasoning_tokens"] ?? usage["reasoning_tokens"]);
  const unsaid = countOf(usage["total_tokens"]) - prompt - completion;
  const reasoning = rules.restOfTotalIsReasoning && unsaid > 0 ? unsaid : said;
  const outside = !rules.reasoningInCompletion || (rules.restOfTotalIsReasoning && unsaid > 0);
  const thought = outside ? 0 : Math.min(reasoning, completion);
  const outputAudio = Math.min(countOf(completionDetails["audio_tokens"]), completion - thought);

  const reportedCost = rules.reportedCost(usage);
  return {
    usage: {
      input: prompt - cacheRead - cacheWrite5m - inputAudio,
      cacheRead,
      cacheWrite5m,
      inputAudio,
      output: completion - thought - outputAudio,
      reasoning: outside ? reasoning : thought,
      outputAudio,
      requests: 1,
    },
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
}
