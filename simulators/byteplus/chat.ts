import type { Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields, shortToolName } from "../shared/chat/check.ts";
import { choiceLogprobs, detailedUsage, fragmentedToolDeltas, turnDeltas, wholeMessage } from "../shared/chat/parts.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isInteger, isOneOf, type Problem } from "../shared/check.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { first } from "../shared/shape.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Answer, Call, Route } from "../shared/types.ts";
import { byteplusErrors } from "./errors.ts";
import { effortLevels, reasoningSeal } from "./reasoning.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "user", "assistant", "tool"],
  toolName: shortToolName,
  fields: chatFields(
    [
      "frequency_penalty",
      "max_completion_tokens",
      "parallel_tool_calls",
      "presence_penalty",
      "stream_options",
      "thinking",
    ],
    {
      n: isInteger(1, 1),
      reasoning_effort: isOneOf(...effortLevels),
      service_tier: isOneOf("auto", "default", "fast"),
    },
  ),
};

function refuse(body: JsonObject): Problem | null {
  return refuseBothLimits(body) ?? refuseForgedReasoning(body);
}

/** One limit is for the answer alone, the other for thinking and answer: they exclude each other. */
function refuseBothLimits(body: JsonObject): Problem | null {
  if (typeof body["max_tokens"] !== "number" || typeof body["max_completion_tokens"] !== "number") return null;
  const message = "cannot be set together with `max_tokens`";
  return { kind: "bad-value", field: "max_completion_tokens", message, value: body["max_completion_tokens"] };
}

/** Encrypted reasoning may be left out, but not changed. */
function refuseForgedReasoning(body: JsonObject): Problem | null {
  return first(asArray(body["messages"]).map(asObject).entries(), ([index, { encrypted_content: sealed }]) => {
    if (sealed === undefined || reasoningSeal.open(sealed) !== undefined) return null;
    const field = `messages[${index}].encrypted_content`;
    return { kind: "bad-value", field, message: "it could not be decrypted", value: sealed };
  });
}

function toolId(call: ToolCall): string {
  return `call_${call.label.toLowerCase()}`;
}

/** Requires the reasoning to be returned in the next turn. */
function sealedReasoning(turn: Turn): JsonObject {
  return turn.reasoning === "" ? {} : { encrypted_content: reasoningSeal.close(turn.reasoning) };
}

/** The content of a message that only calls tools is an empty text, not null. */
function writeMessage(turn: Turn): JsonObject {
  const whole = wholeMessage(turn, { toolId, reasoning: "reasoning_content", nullContent: false });
  return { ...whole, ...sealedReasoning(turn) };
}

function deltas(turn: Turn, talk: ChatTalk): Iterable<JsonObject> {
  return turnDeltas(turn, {
    opening: { role: "assistant", content: "" },
    reasoning: (piece) => ({ content: "", reasoning_content: piece }),
    reasoned: turn.reasoning === "" ? [] : [{ content: "", ...sealedReasoning(turn) }],
    calls: fragmentedToolDeltas(turn, talk, toolId),
  });
}

const wire: ChatWire = {
  rules,
  errors: byteplusErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  id: (identity) => `0217672256${identity.hex("chat", 41)}`,
  envelope: () => ({ service_tier: "default" }),
  usage: detailedUsage,
  message: writeMessage,
  choice: ({ finish }, told, talk) => ({
    logprobs: choiceLogprobs(told, talk),
    ...(finish === "refusal" ? { moderation_hit_type: "severe_violation" } : {}),
  }),
  refusal: "filter",
  deltas,
  closingDelta: { content: "" },
  finishReasonNull: true,
};

/** `stream_options.chunk_include_usage`: usage so far in every chunk. */
const everyChunkWire: ChatWire = { ...wire, usagePlace: "every-chunk", usageAlways: true };

function handle(call: Call): Answer {
  const everyChunk = asObject(asObject(call.body)["stream_options"])["chunk_include_usage"] === true;
  return answerChat(call, everyChunk ? everyChunkWire : wire);
}

/** Chat completions of BytePlus ModelArk. */
export const chatRoutes: readonly Route[] = [{ method: "POST", path: "/byteplus/api/v3/chat/completions", handle }];
