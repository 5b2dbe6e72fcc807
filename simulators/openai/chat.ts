import type { TokenCounts, Turn } from "../shared/answer.ts";
import { attachmentUrl } from "../shared/attachments.ts";
import { type ChatRules, chatFields, checkToolPairs, shortToolName } from "../shared/chat/check.ts";
import { choiceLogprobs, fragmentedToolDeltas, plainUsage, textDeltas, wholeMessage } from "../shared/chat/parts.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isAnything, isFlag, isInteger, isList, isOneOf, isRecord, isText, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { refuseEffort } from "../shared/limits.ts";
import { record, value } from "../shared/shape.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Route } from "../shared/types.ts";
import { cacheProblem, writtenTokens } from "./cache.ts";
import { openaiErrors } from "./errors.ts";
import { effortRows, isReasoningModel, refuseSampling } from "./models.ts";

const rules: ChatRules = {
  strict: true,
  roles: ["developer", "system", "user", "assistant", "tool", "function"],
  takesFreeText: true,
  toolName: shortToolName,
  fields: chatFields(
    [
      "frequency_penalty",
      "logprobs",
      "max_completion_tokens",
      "metadata",
      "modalities",
      "n",
      "parallel_tool_calls",
      "prediction",
      "presence_penalty",
      "prompt_cache_key",
      "stream_options",
    ],
    {
      audio: isRecord,
      function_call: isAnything,
      functions: isList,
      logit_bias: isRecord,
      moderation: isRecord,
      prompt_cache_options: isRecord,
      prompt_cache_retention: isOneOf("in_memory", "24h"),
      reasoning_effort: isOneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"),
      safety_identifier: isText,
      seed: isInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      service_tier: isOneOf("auto", "default", "flex", "scale", "priority", "fast"),
      store: isFlag,
      top_logprobs: isInteger(0, 20),
      user: isText,
      verbosity: isOneOf("low", "medium", "high"),
      web_search_options: isRecord,
    },
  ),
  parts: {
    text: record({ type: value(isText), text: value(isText) }, { required: ["text"], open: true }),
    image_url: record(
      {
        image_url: record(
          { url: attachmentUrl, detail: value(isOneOf("auto", "low", "high", "original")) },
          { required: ["url"] },
        ),
      },
      { required: ["image_url"], open: true },
    ),
  },
};

function refuse(body: JsonObject): Problem | null {
  return checkToolPairs(body) ?? cacheProblem(body, body["messages"]) ?? refuseForModel(body);
}

/** Newer models call functions in chat only if they are asked not to think; they think without being asked. */
function refuseThoughtWithTools(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  if (!/^gpt-(5\.[456]|6)/.test(model) || !isReasoningModel(model) || body["reasoning_effort"] === "none") return null;
  if (!asArray(body["tools"]).some((tool) => asObject(tool)["type"] === "function")) return null;
  const message = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`;
  return { kind: "bad-value", field: "reasoning_effort", message, value: body["reasoning_effort"] ?? null };
}

function refuseForModel(body: JsonObject): Problem | null {
  const effort = refuseEffort(body, effortRows) ?? refuseThoughtWithTools(body);
  if (effort !== null) return effort;
  if (!isReasoningModel(String(body["model"]))) return null;
  if (typeof body["max_tokens"] === "number") {
    const message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return { kind: "unsupported", field: "max_tokens", message };
  }
  const unsupported = ["stop", "logprobs", "top_logprobs", "logit_bias"].find((name) => isGiven(body[name]));
  if (unsupported !== undefined) {
    return { kind: "unsupported", field: unsupported, message: `'${unsupported}' is not supported with this model.` };
  }
  return refuseSampling(body);
}

/** Writes to a cache are not split by their lifetimes here. */
function usage(tokens: TokenCounts, { body }: ChatTalk): JsonObject {
  const { short, long } = writtenTokens(body, body["messages"], tokens);
  const written = short + long === 0 ? {} : { cache_write_tokens: short + long };
  return {
    ...plainUsage(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cached, ...written, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function toolId(call: ToolCall): string {
  return `call_${call.label}`;
}

/** The result of a web search: one citation of the whole text. */
function annotations({ text }: Turn, talk: ChatTalk): JsonObject[] {
  if (!isGiven(talk.body["web_search_options"]) || text === "") return [];
  const place = { start_index: 0, end_index: text.length };
  return [{ type: "url_citation", url_citation: { ...place, url: "https://example.com/", title: "Example Domain" } }];
}

function writeMessage(turn: Turn, talk: ChatTalk): JsonObject {
  const whole = wholeMessage(turn, { toolId, reasoning: null, nullContent: true });
  const refused = turn.refusal === null ? { refusal: null } : { content: null, refusal: turn.refusal.text };
  return { ...whole, ...refused, annotations: annotations(turn, talk) };
}

function* deltas(turn: Turn, talk: ChatTalk): Generator<JsonObject> {
  const silent = turn.text === "" && (turn.toolCalls.length > 0 || turn.refusal !== null);
  yield { role: "assistant", content: silent ? null : "", refusal: null };
  yield* textDeltas(turn.refusal?.text ?? "", (refusal) => ({ refusal }));
  yield* textDeltas(turn.text, (content) => ({ content }));
  const cited = annotations(turn, talk);
  if (cited.length > 0) yield { annotations: cited };
  yield* fragmentedToolDeltas(turn, talk, toolId);
}

/** Padding of changing length on every chunk, on unless `include_obfuscation` is false. */
function obfuscate(chunk: JsonObject, talk: ChatTalk, index: number): JsonObject {
  if (asObject(talk.body["stream_options"])["include_obfuscation"] === false) return chunk;
  const length = 1 + talk.call.identity.number(`padding ${index}`, 12);
  return { ...chunk, obfuscation: talk.call.identity.token(`obfuscation ${index}`, length) };
}

const wire: ChatWire = {
  rules,
  errors: openaiErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  id: (identity) => `chatcmpl-${identity.token("chat", 29)}`,
  envelope: ({ model }) => ({
    service_tier: "default",
    system_fingerprint: isReasoningModel(model) ? null : "fp_simulated",
  }),
  usage,
  message: writeMessage,
  refusal: "field",
  choice: (_turn, told, talk) => ({ logprobs: choiceLogprobs(told, talk) }),
  deltas,
  closingDelta: {},
  finishReasonNull: true,
  dressChunk: (chunk, talk, position) => obfuscate(chunk, talk, position.index),
};

/** Chat completions of OpenAI: strict about unknown fields, tool calls in fragments, usage in a separate chunk. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/chat/completions", handle: (call) => answerChat(call, wire) },
];
