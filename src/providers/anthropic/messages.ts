import { type JsonObject, type ModelFacts, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { countOf } from "../shared/json.ts";

/**
 * `input_tokens` excludes cache reads and writes, `output_tokens` includes reasoning. Cache writes that are not listed
 * by lifetime have the default of five minutes (`docs/wire/anthropic.md`).
 */
function readMessagesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage?.["output_tokens"] === undefined) return undefined;
  const writes = objectOf(usage["cache_creation"]);
  const cacheWrite1h = countOf(writes?.["ephemeral_1h_input_tokens"]);
  const output = countOf(usage["output_tokens"]);
  const reasoning = Math.min(countOf(objectOf(usage["output_tokens_details"])?.["thinking_tokens"]), output);
  return {
    usage: {
      input: countOf(usage["input_tokens"]),
      cacheRead: countOf(usage["cache_read_input_tokens"]),
      cacheWrite5m: Math.max(countOf(usage["cache_creation_input_tokens"]) - cacheWrite1h, 0),
      cacheWrite1h,
      output: output - reasoning,
      reasoning,
      requests: 1,
    },
  };
}

/** The version of a model as a number: 4.6 for `claude-opus-4-6`. */
function versionOf(model: string): number | undefined {
  const [, major, minor] = /^claude-[a-z]+-(\d+)(?:-(\d)(?!\d))?/.exec(model) ?? [];
  return major === undefined ? undefined : Number(`${major}.${minor ?? 0}`);
}

/**
 * Since 4.7, thinking is adaptive and sampling parameters are refused. Of the models before 4, only 3.7 can think
 * (`docs/wire/anthropic.md`).
 */
function factsOf(model: string): ModelFacts {
  const version = versionOf(model);
  if (version === undefined) return { thinking: model.startsWith("claude-3-7") ? "budget" : "none" };
  return version > 4.6 ? { thinking: "adaptive", refusesSampling: true } : { thinking: "budget" };
}

/** Counts the input tokens that a call would have, at the upstream. */
export const countTokens: UpstreamOperation = {
  dialect: "messages",
  path: "/v1/messages/count_tokens",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  edits: () => [],
  readUsage: () => undefined,
  isFailure: (answer) => answer["type"] === "error",
};

/** The native API. */
export const messages: UpstreamOperation = {
  dialect: "messages",
  path: "/v1/messages",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  edits: () => [],
  facts: factsOf,
  readUsage: readMessagesUsage,
  isFailure: (answer) => answer["type"] === "error",
};
