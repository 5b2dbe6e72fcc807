import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { dropAndRename, type FieldRules } from "./field-rules.ts";
import { countOf } from "./json.ts";

/** What sets one embeddings endpoint apart from OpenAI's. */
export interface EmbeddingsEndpoint extends FieldRules {
  path: string;
  /** The real price that the upstream names, in nano-credits. */
  reportedCost?: (usage: JsonObject) => bigint | undefined;
}

/** Whatever is embedded has a token at least: an upstream that counts none has not counted. */
function readEmbeddingsUsage(
  answer: JsonObject,
  reportedCostOf: EmbeddingsEndpoint["reportedCost"],
): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  // Some name the total alone, which is the same where nothing is written.
  const input = countOf(usage["prompt_tokens"]) || countOf(usage["total_tokens"]);
  const reportedCost = reportedCostOf?.(usage);
  if (input === 0 && reportedCost === undefined) return undefined;
  const inputImage = Math.min(countOf(objectOf(usage["prompt_tokens_details"])?.["image_tokens"]), input);
  return {
    usage: { input: input - inputImage, inputImage, requests: 1 },
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
}

/** The embeddings operation of an upstream that speaks OpenAI's shape of it. */
export function embeddingsOperation({ path, reportedCost, ...rules }: EmbeddingsEndpoint): UpstreamOperation {
  return {
    path,
    edits: (body) => dropAndRename(body, rules),
    readUsage: (answer) => readEmbeddingsUsage(answer, reportedCost),
    // Whatever an error looks like, and some are flat: an answer has vectors.
    isFailure: (answer) => answer["data"] === undefined || answer["data"] === null,
  };
}
