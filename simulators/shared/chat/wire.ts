import { answerPrompt, type ModelAnswer, type TokenCounts, type Turn } from "../answer.ts";
import type { Problem } from "../check.ts";
import type { Identity } from "../identity.ts";
import { asObject, type JsonObject } from "../json.ts";
import type { Prompt } from "../prompt.ts";
import { doneFrame, type Frame, jsonFrame } from "../sse.ts";
import { type Answer, type Call, errorAnswer, type Headers, isMissingModel, type ProviderErrors } from "../types.ts";
import { type ChatRules, checkChat } from "./check.ts";
import { readChatPrompt } from "./read-prompt.ts";

/** One chat request on its way to an answer. */
export interface ChatTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly streamed: boolean;
  readonly answer: ModelAnswer;
  /** The choices in this provider's format. */
  readonly turns: readonly Turn[];
  /** False under the fault `no-usage`, and for a stream without a request for it if one is needed. */
  readonly usageShown: boolean;
}

/** The place of a stream's usage: a separate chunk without choices, the finishing chunk, or every chunk so far. */
type UsagePlace = "own-chunk" | "finish-chunk" | "every-chunk";

/** A provider's format of chat completions. It contains all differences between providers. */
export interface ChatWire {
  readonly rules: ChatRules;
  readonly errors: ProviderErrors;
  readonly usagePlace: UsagePlace;
  /** False where usage is streamed only when `stream_options.include_usage` asks for it. */
  readonly usageAlways: boolean;
  /** Refusals beyond the shape of single fields. */
  refuse?(body: JsonObject): Problem | null;
  modelName?(model: string): string;
  /** Reads the options if the provider ignores or adds some. */
  readPrompt?(body: JsonObject): Prompt;
  id(identity: Identity): string;
  /** Members around `choices` on answers and chunks alike. */
  envelope?(talk: ChatTalk): JsonObject;
  usage(tokens: TokenCounts, talk: ChatTalk): JsonObject;
  message(turn: Turn, talk: ChatTalk): JsonObject;
  /** Members beside `message` or `delta` in a choice; `told` is its text. */
  choice?(turn: Turn, told: string, talk: ChatTalk): JsonObject;
  /** The place of a refusal: a separate field, only the finish reason, or plain text. */
  readonly refusal: "field" | "filter" | "text";
  /** The finish reason of a failed generation (fault `failed`), if the provider has one. */
  readonly failedReason?: string;
  /** The deltas of one choice in order, the finishing one left out. */
  deltas(turn: Turn, talk: ChatTalk): Iterable<JsonObject>;
  /** The delta that goes with the finish reason. */
  readonly closingDelta: JsonObject;
  finishReason?(turn: Turn, talk: ChatTalk): string;
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

/** Answers `POST …/chat/completions` in a provider's own way. */
export function answerChat(call: Call, wire: ChatWire): Answer {
  const body = asObject(call.body);
  const problem = checkChat(call.body, wire.rules) ?? wire.refuse?.(body) ?? null;
  if (problem !== null) return errorAnswer(wire.errors.forProblem(problem));
  const model = wire.modelName?.(String(body["model"])) ?? String(body["model"]);
  if (isMissingModel(model)) return errorAnswer(wire.errors.modelNotFound(model));
  const talk = startTalk(call, body, model, wire);
  return talk.streamed ? streamAnswer(talk, wire) : wholeAnswer(talk, wire);
}

function startTalk(call: Call, body: JsonObject, model: string, wire: ChatWire): ChatTalk {
  const streamed = body["stream"] === true;
  const asked = asObject(body["stream_options"])["include_usage"] === true;
  const prompt = wire.readPrompt?.(body) ?? readChatPrompt(body);
  const answer = answerPrompt(prompt, call.identity, call.faults.hugeMebibytes);
  return {
    call,
    body,
    model,
    streamed,
    answer,
    turns: answer.turns.map((turn) => tellRefusal(turn, wire)),
    usageShown: !call.faults.noUsage && (!streamed || wire.usageAlways || asked),
  };
}

/** Without a field for it, a refusal is plain text or only visible in the finish reason. */
function tellRefusal(turn: Turn, wire: ChatWire): Turn {
  if (turn.refusal === null || wire.refusal !== "text") return turn;
  return { ...turn, text: turn.refusal.text, refusal: null, finish: "stop" };
}

function wholeAnswer(talk: ChatTalk, wire: ChatWire): Answer {
  const choices = talk.turns.map((turn, index) => ({
    index,
    message: wire.message(turn, talk),
    ...wire.choice?.(turn, turn.text, talk),
    finish_reason: finishReason(turn, talk, wire),
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

function finishReason(turn: Turn, talk: ChatTalk, wire: ChatWire): string {
  if (talk.call.faults.failed && wire.failedReason !== undefined) return wire.failedReason;
  if (turn.finish === "refusal") return wire.refusal === "field" ? "stop" : "content_filter";
  return wire.finishReason?.(turn, talk) ?? turn.finish;
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
  const { turns } = talk;
  const chunk = (choices: readonly JsonObject[]): JsonObject => ({
    ...head(talk, wire, "chat.completion.chunk"),
    ...wire.envelope?.(talk),
    choices,
  });
  for (const [index, turn] of turns.entries()) {
    for (const delta of wire.deltas(turn, talk)) {
      const unfinished = wire.finishReasonNull ? { finish_reason: null } : {};
      const choice = { index, delta, ...wire.choice?.(turn, contentOf(delta), talk), ...unfinished };
      yield { members: chunk([choice]), finishing: false, usageOnly: false };
    }
  }
  for (const [index, turn] of turns.entries()) {
    const reason = { finish_reason: finishReason(turn, talk, wire) };
    const choice = { index, delta: wire.closingDelta, ...wire.choice?.(turn, "", talk), ...reason };
    yield { members: chunk([choice]), finishing: index === turns.length - 1, usageOnly: false };
  }
  if (talk.usageShown && wire.usagePlace === "own-chunk") {
    yield { members: chunk([]), finishing: false, usageOnly: true };
  }
}

function contentOf({ content }: JsonObject): string {
  return typeof content === "string" ? content : "";
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
