import { type JsonObject, objectOf, type ObservedUsage } from "../../../src/core/index.ts";
import type { ClientContext, TranslationTarget, UpstreamContext } from "../../../src/dialects/index.ts";

const count = (value: unknown): number => (typeof value === "number" ? value : 0);

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isInteger(value) && value >= 0;

/** Chat usage in OpenAI's counting. */
function readChatUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const cacheRead = count(objectOf(usage["prompt_tokens_details"])?.["cached_tokens"]);
  const reasoning = count(objectOf(usage["completion_tokens_details"])?.["reasoning_tokens"]);
  const input = count(usage["prompt_tokens"]) - cacheRead;
  return { usage: { input, cacheRead, output: count(usage["completion_tokens"]) - reasoning, reasoning } };
}

/** Messages usage. */
function readMessagesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const uncounted = (["input", "output"] as const).filter((side) => !isCount(usage[`${side}_tokens`]));
  if (uncounted.length === 2) return undefined;
  const writes = objectOf(usage["cache_creation"]) ?? {};
  return {
    usage: {
      input: count(usage["input_tokens"]),
      cacheRead: count(usage["cache_read_input_tokens"]),
      cacheWrite5m: count(writes["ephemeral_5m_input_tokens"]),
      cacheWrite1h: count(writes["ephemeral_1h_input_tokens"]),
      output: count(usage["output_tokens"]),
    },
    ...(uncounted.length === 0 ? {} : { uncounted }),
  };
}

/** Responses usage. */
function readResponsesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const cacheRead = count(objectOf(usage["input_tokens_details"])?.["cached_tokens"]);
  const reasoning = count(objectOf(usage["output_tokens_details"])?.["reasoning_tokens"]);
  const input = count(usage["input_tokens"]) - cacheRead;
  return { usage: { input, cacheRead, output: count(usage["output_tokens"]) - reasoning, reasoning } };
}

export const chatUpstream: UpstreamContext = {
  origin: "deepseek",
  callId: "c0ffee",
  model: "model-asked",
  readUsage: readChatUsage,
};

export const messagesUpstream: UpstreamContext = { ...chatUpstream, origin: "anthropic", readUsage: readMessagesUsage };

export const responsesUpstream: UpstreamContext = { ...chatUpstream, origin: "openai", readUsage: readResponsesUsage };

/** Google's own counts: thoughts beside the candidates. */
function readGeminiUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usageMetadata"]);
  if (usage === undefined) return undefined;
  const cacheRead = count(usage["cachedContentTokenCount"]);
  const input = count(usage["promptTokenCount"]) - cacheRead;
  const [output, reasoning] = [count(usage["candidatesTokenCount"]), count(usage["thoughtsTokenCount"])];
  return { usage: { input, cacheRead, output, reasoning } };
}

export const geminiUpstream: UpstreamContext = { ...chatUpstream, origin: "google", readUsage: readGeminiUsage };

export function clientOf(request: JsonObject = {}): ClientContext {
  return { request, callId: "abc123", created: 1_700_000_000, inputTokensEstimate: 7, requestId: "req_1" };
}

export const plainTarget: TranslationTarget = { model: "upstream-model", origin: "somebody" };
