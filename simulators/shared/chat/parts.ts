import type { TokenCounts, Turn } from "../answer.ts";
import type { JsonObject } from "../json.ts";
import { tokenLogprobs } from "../logprobs.ts";
import { numberOr } from "../prompt.ts";
import { argumentPieces, type ToolCall } from "../tool-calls.ts";
import { textPieces } from "../words.ts";
import type { ChatTalk } from "./wire.ts";

/** How a provider names and fills the parts of a message that differ from one provider to the next. */
export interface MessageStyle {
  readonly toolId: (call: ToolCall) => string;
  /** The field that contains thinking; null if it is never shown. */
  readonly reasoning: "reasoning_content" | "reasoning" | null;
  /** The content of a message that only calls tools is null, not an empty text. */
  readonly nullContent: boolean;
}

/** The message of a whole answer. */
export function wholeMessage(turn: Turn, style: MessageStyle): JsonObject {
  const silent = turn.toolCalls.length > 0 && turn.text === "";
  return {
    role: "assistant",
    content: silent && style.nullContent ? null : turn.text,
    ...(turn.reasoning === "" || style.reasoning === null ? {} : { [style.reasoning]: turn.reasoning }),
    ...(turn.toolCalls.length === 0 ? {} : { tool_calls: wholeToolCalls(turn.toolCalls, style.toolId) }),
  };
}

/** One delta for each word of a text. */
export function* textDeltas(text: string, wrap: (piece: string) => JsonObject): Generator<JsonObject> {
  for (const piece of textPieces(text)) yield wrap(piece);
}

/**
 * Tool calls as fragments: name and id first, then the arguments piece by piece, joined by `index`. One call after the
 * other, unless the scenario wants their fragments to take turns.
 */
export function fragmentedToolDeltas(
  { toolCalls }: Turn,
  talk: ChatTalk,
  toolId: (call: ToolCall) => string,
): JsonObject[] {
  const fragments = toolCalls.flatMap((call, index) => fragmentsOf(call, index, toolId));
  const ordered = talk.answer.scenario.interleaved
    ? fragments.toSorted((left, right) => left.place - right.place)
    : fragments;
  return ordered.map(({ fragment }) => ({ tool_calls: [fragment] }));
}

interface Fragment {
  readonly fragment: JsonObject;
  /** Which fragment of its call it is. */
  readonly place: number;
}

function fragmentsOf(call: ToolCall, index: number, toolId: (call: ToolCall) => string): Fragment[] {
  const opening = { index, id: toolId(call), type: "function", function: { name: call.name, arguments: "" } };
  const pieces = argumentPieces(call).map((piece) => ({ index, function: { arguments: piece } }));
  return [opening, ...pieces].map((fragment, place) => ({ fragment, place }));
}

/** Tool calls as a whole message holds them. */
export function wholeToolCalls(calls: readonly ToolCall[], toolId: (call: ToolCall) => string): JsonObject[] {
  return calls.map((call) => ({
    id: toolId(call),
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
}

/** Tool calls as whole entries of one delta. */
export function indexedToolCalls(calls: readonly ToolCall[], toolId: (call: ToolCall) => string): JsonObject[] {
  return wholeToolCalls(calls, toolId).map((call, index) => ({ index, ...call }));
}

/** The log probabilities of a choice's text; null if they were not requested, or there is no text. */
export function choiceLogprobs(told: string, { body }: ChatTalk): JsonObject | null {
  if (body["logprobs"] !== true || told === "") return null;
  return { content: tokenLogprobs(told, numberOr(body["top_logprobs"], 0)), refusal: null };
}

/** The usual three counts, reasoning being part of the completion. */
export function plainUsage(tokens: TokenCounts): JsonObject {
  const completion = tokens.answer + tokens.reasoning;
  return { prompt_tokens: tokens.prompt, completion_tokens: completion, total_tokens: tokens.prompt + completion };
}

/** Those counts with their details. */
export function detailedUsage(tokens: TokenCounts): JsonObject {
  return {
    ...plainUsage(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cached },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}

/** Writes the deltas of one choice; one without a field for thinking never shows it. */
export interface DeltaStyle {
  readonly opening: JsonObject;
  readonly reasoning?: (piece: string) => JsonObject;
  /** The part after the thinking. */
  readonly reasoned?: Iterable<JsonObject>;
  readonly text?: (piece: string) => JsonObject;
  readonly calls: Iterable<JsonObject>;
}

/** The deltas of one choice: its opening, then thinking and text word by word, then the calls. */
export function* turnDeltas(turn: Turn, style: DeltaStyle): Generator<JsonObject> {
  yield style.opening;
  if (style.reasoning !== undefined) yield* textDeltas(turn.reasoning, style.reasoning);
  yield* style.reasoned ?? [];
  yield* textDeltas(turn.text, style.text ?? ((content) => ({ content })));
  yield* style.calls;
}
