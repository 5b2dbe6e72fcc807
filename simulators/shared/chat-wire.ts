import { answerPrompt, type ModelAnswer, type TokenCounts, type ToolCall, type Turn, textPieces } from "./answer.ts";
import { type ChatRules, checkChat, type Problem } from "./check.ts";
import type { Identity } from "./identity.ts";
import { asObject, type JsonObject } from "./json.ts";
import { type Prompt, readChatPrompt } from "./prompt.ts";
import { doneFrame, type Frame, jsonFrame } from "./sse.ts";
import { type Answer, type Call, errorAnswer, type Headers, type ProviderErrors } from "./types.ts";

/** One chat request on its way to an answer. */
export interface ChatTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly streamed: boolean;
  readonly answer: ModelAnswer;
  /** False under the fault `no-usage`, and for a stream whose caller did not ask where asking is needed. */
  readonly usageShown: boolean;
}

/** Where the usage of a stream is found: a chunk of its own without choices, the finishing chunk, or every chunk so far. */
export type UsagePlace = "own-chunk" | "finish-chunk" | "every-chunk";

/** A provider's way of writing chat completions. Everything that differs between providers is said here. */
export interface ChatWire {
  readonly rules: ChatRules;
  readonly errors: ProviderErrors;
  readonly usagePlace: UsagePlace;
  /** False where usage is streamed only when `stream_options.include_usage` asks for it. */
  readonly usageAlways: boolean;
  /** Refusals beyond the shape of single fields. */
  refuse?(body: JsonObject): Problem | null;
  modelName?(model: string): string;
  /** Reads what is asked for, where the provider ignores or adds something. */
  readPrompt?(body: JsonObject): Prompt;
  id(identity: Identity): string;
  /** Members around `choices` on answers and chunks alike. */
  envelope?(talk: ChatTalk): JsonObject;
  usage(tokens: TokenCounts, talk: ChatTalk): JsonObject;
  message(turn: Turn, talk: ChatTalk): JsonObject;
  /** Members beside `message` or `delta` in a choice. */
  choice?(streamed: boolean): JsonObject;
  /** The deltas of one choice in order, the finishing one left out. */
  deltas(turn: Turn, talk: ChatTalk): Iterable<JsonObject>;
  /** The delta that goes with the finish reason. */
  readonly closingDelta: JsonObject;
  finishReason?(turn: Turn, streamed: boolean): string;
  /** False where unfinished chunks leave `finish_reason` out. */
  readonly finishReasonNull: boolean;
  /** Last touch on a whole completion. */
  dressCompletion?(completion: JsonObject, talk: ChatTalk): JsonObject;
  /** Last touch on a chunk. */
  dressChunk?(chunk: JsonObject, talk: ChatTalk, position: ChunkPosition): JsonObject;
  /** White space before a whole JSON answer. */
  readonly lead?: string;
  /** Frames before the first chunk. */
  readonly opening?: readonly Frame[];
  headers?(talk: ChatTalk): Headers;
}

export interface ChunkPosition {
  readonly first: boolean;
  /** The chunk that carries the finish reason of the last choice. */
  readonly finishing: boolean;
  /** How many chunks went before. */
  readonly index: number;
}

/** Models whose name begins so do not exist at any simulated provider. */
const missingModelPrefix = "missing-";

/** Answers `POST …/chat/completions` in a provider's own way. */
export function answerChat(call: Call, wire: ChatWire): Answer {
  const body = asObject(call.body);
  const problem = checkChat(call.body, wire.rules) ?? wire.refuse?.(body) ?? null;
  if (problem !== null) return errorAnswer(wire.errors.forProblem(problem));
  const model = wire.modelName?.(String(body["model"])) ?? String(body["model"]);
  if (model.startsWith(missingModelPrefix)) return errorAnswer(wire.errors.modelNotFound(model));
  const talk = startTalk(call, body, model, wire);
  return talk.streamed ? streamAnswer(talk, wire) : wholeAnswer(talk, wire);
}

function startTalk(call: Call, body: JsonObject, model: string, wire: ChatWire): ChatTalk {
  const streamed = body["stream"] === true;
  const asked = asObject(body["stream_options"])["include_usage"] === true;
  const prompt = wire.readPrompt?.(body) ?? readChatPrompt(body);
  return {
    call,
    body,
    model,
    streamed,
    answer: answerPrompt(prompt, call.identity, call.faults.hugeMebibytes),
    usageShown: !call.faults.noUsage && (!streamed || wire.usageAlways || asked),
  };
}

function wholeAnswer(talk: ChatTalk, wire: ChatWire): Answer {
  const choices = talk.answer.turns.map((turn, index) => ({
    index,
    message: wire.message(turn, talk),
    ...wire.choice?.(false),
    finish_reason: finishReason(turn, wire, false),
  }));
  const usage = talk.usageShown ? { usage: wire.usage(talk.answer.tokens, talk) } : {};
  const completion = { ...head(talk, wire, "chat.completion"), choices, ...usage, ...wire.envelope?.(talk) };
  const body = wire.dressCompletion?.(completion, talk) ?? completion;
  return { kind: "json", status: 200, body, headers: wire.headers?.(talk) ?? {}, lead: wire.lead ?? "" };
}

function streamAnswer(talk: ChatTalk, wire: ChatWire): Answer {
  return { kind: "stream", frames: chatFrames(talk, wire), headers: wire.headers?.(talk) ?? {} };
}

function head(talk: ChatTalk, wire: ChatWire, object: string): JsonObject {
  const { identity } = talk.call;
  return { id: wire.id(identity), object, created: identity.created, model: talk.model };
}

function finishReason(turn: Turn, wire: ChatWire, streamed: boolean): string {
  return wire.finishReason?.(turn, streamed) ?? turn.finish;
}

function* chatFrames(talk: ChatTalk, wire: ChatWire): Generator<Frame> {
  yield* wire.opening ?? [];
  let index = 0;
  for (const chunk of chatChunks(talk, wire)) {
    const position = { first: index === 0, finishing: chunk.finishing, index };
    const members = withUsage(chunk, talk, wire, index);
    yield jsonFrame(wire.dressChunk?.(members, talk, position) ?? members);
    index += 1;
  }
  yield doneFrame;
}

interface PlainChunk {
  readonly members: JsonObject;
  readonly finishing: boolean;
  readonly usageOnly: boolean;
}

function* chatChunks(talk: ChatTalk, wire: ChatWire): Generator<PlainChunk> {
  const { turns } = talk.answer;
  const chunk = (choices: readonly JsonObject[]): JsonObject => ({
    ...head(talk, wire, "chat.completion.chunk"),
    ...wire.envelope?.(talk),
    choices,
  });
  for (const [index, turn] of turns.entries()) {
    for (const delta of wire.deltas(turn, talk)) {
      const unfinished = wire.finishReasonNull ? { finish_reason: null } : {};
      const choice = { index, delta, ...wire.choice?.(true), ...unfinished };
      yield { members: chunk([choice]), finishing: false, usageOnly: false };
    }
  }
  for (const [index, turn] of turns.entries()) {
    const reason = { finish_reason: finishReason(turn, wire, true) };
    const choice = { index, delta: wire.closingDelta, ...wire.choice?.(true), ...reason };
    yield { members: chunk([choice]), finishing: index === turns.length - 1, usageOnly: false };
  }
  if (talk.usageShown && wire.usagePlace === "own-chunk") {
    yield { members: chunk([]), finishing: false, usageOnly: true };
  }
}

function withUsage(chunk: PlainChunk, talk: ChatTalk, wire: ChatWire, index: number): JsonObject {
  if (!talk.usageShown) return chunk.members;
  const { tokens } = talk.answer;
  if (wire.usagePlace === "every-chunk") {
    const sofar = chunk.finishing ? tokens : { ...tokens, answer: Math.min(index, tokens.answer), reasoning: 0 };
    return { ...chunk.members, usage: wire.usage(sofar, talk) };
  }
  if (wire.usagePlace === "finish-chunk") {
    return chunk.finishing ? { ...chunk.members, usage: wire.usage(tokens, talk) } : chunk.members;
  }
  return { ...chunk.members, usage: chunk.usageOnly ? wire.usage(tokens, talk) : null };
}

/** One delta for each word of a text. */
export function* textDeltas(text: string, wrap: (piece: string) => JsonObject): Generator<JsonObject> {
  for (const piece of textPieces(text)) yield wrap(piece);
}

/** Characters of arguments in one fragment of a streamed tool call. */
const fragmentCharacters = 7;

/** Tool calls as fragments: name and id first, then the arguments piece by piece, joined by `index`. */
export function* fragmentedToolDeltas(
  calls: readonly ToolCall[],
  toolId: (call: ToolCall) => string,
): Generator<JsonObject> {
  for (const [index, call] of calls.entries()) {
    const opening = { index, id: toolId(call), type: "function", function: { name: call.name, arguments: "" } };
    yield { tool_calls: [opening] };
    for (let start = 0; start < call.arguments.length; start += fragmentCharacters) {
      const fragment = call.arguments.slice(start, start + fragmentCharacters);
      yield { tool_calls: [{ index, function: { arguments: fragment } }] };
    }
  }
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

/** The usual three counts, reasoning being part of the completion. */
export function plainUsage(tokens: TokenCounts): JsonObject {
  const completion = tokens.answer + tokens.reasoning;
  return { prompt_tokens: tokens.prompt, completion_tokens: completion, total_tokens: tokens.prompt + completion };
}

/** A turn's text, null where it only calls tools. */
export function contentOrNull(turn: Turn): string | null {
  return turn.toolCalls.length > 0 && turn.text === "" ? null : turn.text;
}
