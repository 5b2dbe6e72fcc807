import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { countOf } from "./json.ts";

/** What sets one Responses endpoint apart from OpenAI's. */
export interface ResponsesEndpoint {
  path: string;
  /** Whether `output_tokens` may leave the reasoning out, so that only `total_tokens` tells (xAI). */
  totalTellsOutput: boolean;
  /** The real price that the upstream names, in nano-credits. */
  reportedCost: (usage: JsonObject) => bigint | undefined;
  /** Whether `GET {path}/{id}/input_items` is there. */
  listsInput: boolean;
}

/** The usage of a response, or of the event that holds one. */
function usageOf(answer: JsonObject): JsonObject | undefined {
  return objectOf(answer["usage"]) ?? objectOf(objectOf(answer["response"])?.["usage"]);
}

/**
 * Tokens that the cache read or wrote are within `input_tokens`, unless it read more than that: then they are beside it
 * (`docs/wire/xai.md`).
 */
function readResponsesUsage(answer: JsonObject, endpoint: ResponsesEndpoint): ObservedUsage | undefined {
  const usage = usageOf(answer);
  if (usage === undefined) return undefined;
  const input = countOf(usage["input_tokens"]);
  const details = objectOf(usage["input_tokens_details"]);
  const cacheRead = countOf(details?.["cached_tokens"]);
  const uncached = cacheRead > input ? input : input - cacheRead;
  const cacheWrite5m = Math.min(countOf(details?.["cache_write_tokens"]), uncached);
  const named = countOf(usage["output_tokens"]);
  const output = endpoint.totalTellsOutput ? Math.max(countOf(usage["total_tokens"]) - input, named) : named;
  const reasoning = Math.min(countOf(objectOf(usage["output_tokens_details"])?.["reasoning_tokens"]), output);
  const reportedCost = endpoint.reportedCost(usage);
  return {
    usage: {
      input: uncached - cacheWrite5m,
      cacheRead,
      cacheWrite5m,
      output: output - reasoning,
      reasoning,
      requests: 1,
    },
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
}

/** The Responses operation of an upstream that speaks that dialect itself, and keeps what it has answered. */
export function responsesOperation(endpoint: ResponsesEndpoint): UpstreamOperation {
  return {
    dialect: "responses",
    path: endpoint.path,
    keeps: { listsInput: endpoint.listsInput },
    edits: () => [],
    readUsage: (answer) => readResponsesUsage(answer, endpoint),
    // xAI's error is a sentence, the others' an object.
    isFailure: ({ status, error, output }) =>
      status === "failed" || (error !== undefined && error !== null && output === undefined),
  };
}
