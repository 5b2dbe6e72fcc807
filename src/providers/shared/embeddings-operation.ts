import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { dropAndRename, type FieldRules } from "./field-rules.ts";
import { countOf, uncountedOf } from "./json.ts";

/** The differences between an embeddings endpoint and OpenAI's. */
export interface EmbeddingsEndpoint extends FieldRules {
  path: string;
  /** The real price that the upstream reports, in nano-credits. */
  reportedCost?: (usage: JsonObject) => bigint | undefined;
}

/**
 * The usage of an answer without generated text. Every input has at least one token, so a count of zero means that the
 * upstream did not count.
 */
export function readInputUsage(
  answer: JsonObject,
  reportedCostOf?: EmbeddingsEndpoint["reportedCost"],
): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  // Some report only the total, which is the same if there is no output.
  const input = [usage["prompt_tokens"], usage["total_tokens"]].map(countOf).find((count) => count > 0) ?? 0;
  const reportedCost = reportedCostOf?.(usage);
  if (input === 0 && reportedCost === undefined) return undefined;
  const inputImage = Math.min(countOf(objectOf(usage["prompt_tokens_details"])?.["image_tokens"]), input);
  return {
    usage: { input: input - inputImage, inputImage, requests: 1 },
    ...uncountedOf(input === 0 ? undefined : input, 0),
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
}

/** The embeddings operation of an upstream that uses OpenAI's format. */
export function embeddingsOperation({ path, reportedCost, ...rules }: EmbeddingsEndpoint): UpstreamOperation {
  return {
    path,
    edits: (body) => dropAndRename(body, rules),
    readUsage: (answer) => readInputUsage(answer, reportedCost),
    // Errors have various formats, but only a successful answer has vectors.
    isFailure: (answer) => answer["data"] === undefined || answer["data"] === null,
  };
}
