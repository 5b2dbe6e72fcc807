import { answerPrompt, countPrompt, type ModelAnswer, type Turn } from "../shared/answer.ts";
import type { Problem } from "../shared/check.ts";
import { asObject, isObject, type JsonObject } from "../shared/json.ts";
import type { Shape } from "../shared/shape.ts";
import { type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";
import { fallbackBlock, fallbackBodies, fallbackUsage } from "./fallbacks.ts";
import { type AnswerBlock, answerBlocks } from "./messages-blocks.ts";
import { readMessagesPrompt } from "./messages-prompt.ts";
import { checkMessages } from "./messages-rules.ts";
import { countShape, messagesShape } from "./messages-shape.ts";
import { deltaUsage, messageUsage } from "./messages-usage.ts";
import { keepThread, resumeThread } from "./threads.ts";
import { checkVersion, hasFallbacks, hasThreads, isLeanVersion } from "./versions.ts";

/** One request on its way to an answer. */
interface Talk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly answer: ModelAnswer;
  readonly turn: Turn;
  /** The answer of the requested model, if it declined and another one answers. */
  readonly declined?: { readonly model: unknown; readonly category: unknown };
}

function create(call: Call): Answer {
  const shape = messagesShape({
    lean: isLeanVersion(call),
    threads: hasThreads(call),
    fallbacks: hasFallbacks(call),
  });
  const asked = read(call, shape);
  if ("kind" in asked) return asked;
  const talk = answered(call, asked.body);
  const { body } = talk;
  if (body["stream"] === true) return { kind: "stream", frames: eventFrames(talk) };
  const message = wholeMessage(talk);
  keepThread(call, body, message);
  return jsonAnswer(message);
}

/** The answer of the requested model or, if that declines, of the first of its fallbacks. */
function answered(call: Call, body: JsonObject): Talk {
  const answer = answerPrompt(readMessagesPrompt(body), call.identity, call.faults.hugeMebibytes);
  const [turn] = answer.turns;
  if (turn === undefined) throw new Error("an answer without a turn");
  const [next] = turn.refusal === null ? [] : fallbackBodies(body);
  if (next === undefined) return { call, body, answer, turn };
  const { category } = asObject(ending(turn)["stop_details"]);
  return { ...answered(call, next), declined: { model: body["model"], category } };
}

/** Counts the input, cached or not. Free, and an estimate. */
function countTokens(call: Call): Answer {
  const asked = read(call, countShape);
  if ("kind" in asked) return asked;
  return jsonAnswer({ input_tokens: countPrompt(readMessagesPrompt(asked.body).messages).prompt });
}

/** The checked request, including its thread; an answer if it is refused. */
function read(call: Call, shape: Shape): { readonly body: JsonObject } | Answer {
  const problem = checkVersion(call) ?? checkBody(call, shape);
  if (problem !== null) return errorAnswer(nativeErrors.forProblem(problem));
  const resumed = resumeThread(call, asObject(call.body));
  if ("error" in resumed) return errorAnswer(resumed.error);
  const refused = checkMessages(resumed.body, isLeanVersion(call));
  if (refused !== null) return errorAnswer(nativeErrors.forProblem(refused));
  const model = String(resumed.body["model"]);
  return isMissingModel(model) ? errorAnswer(nativeErrors.modelNotFound(model)) : resumed;
}

function checkBody(call: Call, shape: Shape): Problem | null {
  return isObject(call.body) ? shape(call.body, "") : { kind: "not-json" };
}

/** Everything but content, end and usage. */
function messageHead({ call, body }: Talk): JsonObject {
  const id = `msg_01${call.identity.token("message", 22)}`;
  return { id, type: "message", role: "assistant", model: body["model"], container: null };
}

function wholeMessage(talk: Talk): JsonObject {
  const { call, body, answer, turn } = talk;
  return {
    ...messageHead(talk),
    content: blocksOf(talk).map(({ whole }) => whole),
    ...ending(turn),
    ...(call.faults.noUsage ? {} : { usage: withFallback(talk, messageUsage(body, answer.tokens)) }),
  };
}

function blocksOf({ body, answer, turn, declined }: Talk): AnswerBlock[] {
  const blocks = answerBlocks(turn, body, answer.scenario);
  if (declined === undefined) return blocks;
  const block = fallbackBlock(declined.model, body["model"], declined.category);
  return [{ whole: block, empty: block, deltas: [] }, ...blocks];
}

function withFallback({ body, declined }: Talk, usage: JsonObject): JsonObject {
  return declined === undefined ? usage : fallbackUsage(usage, declined.model, body["model"]);
}

const refusalCategories = new Set(["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]);

function ending({ finish, stopSequence, refusal }: Turn): JsonObject {
  const details = refusal === null ? null : refusalDetails(refusal.category, refusal.text);
  const reasons = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", refusal: "refusal" };
  const reason = stopSequence === null ? reasons[finish] : "stop_sequence";
  return { stop_reason: reason, stop_sequence: stopSequence, stop_details: details };
}

function refusalDetails(category: string, explanation: string): JsonObject {
  return { type: "refusal", category: refusalCategories.has(category) ? category : null, explanation };
}

function* eventFrames(talk: Talk): Generator<Frame> {
  const { call, body, answer, turn, declined } = talk;
  const usage = call.faults.noUsage ? {} : { usage: messageUsage(body, answer.tokens, true) };
  const open = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  yield namedFrame({
    type: "message_start",
    message: { ...messageHead(talk), ...open, ...usage, ...(declined && { model: declined.model }) },
  });
  for (const [index, block] of blocksOf(talk).entries()) {
    yield namedFrame({ type: "content_block_start", index, content_block: block.empty });
    if (index === 0) yield namedFrame({ type: "ping" });
    for (const delta of block.deltas) yield namedFrame({ type: "content_block_delta", index, delta });
    yield namedFrame({ type: "content_block_stop", index });
  }
  const counted = call.faults.noUsage ? {} : { usage: withFallback(talk, deltaUsage(body, answer.tokens)) };
  yield namedFrame({ type: "message_delta", delta: { ...ending(turn), container: null }, ...counted });
  keepThread(call, body, wholeMessage(talk));
  yield namedFrame({ type: "message_stop" });
}

/** The native Messages API. */
export const messageRoutes: readonly Route[] = [
  { method: "POST", path: "/anthropic/v1/messages", handle: create },
  { method: "POST", path: "/anthropic/v1/messages/count_tokens", handle: countTokens },
];
