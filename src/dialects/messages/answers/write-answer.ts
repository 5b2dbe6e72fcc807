import { type JsonObject, parseObject } from "../../../core/index.ts";
import {
  type Answer,
  type AnswerBlock,
  type ClientContext,
  plainCallId,
  type ReasoningPart,
  tagSignature,
  type Stop,
  type TextPart,
  type ToolCallPart,
} from "../../conversation/index.ts";
import { writeCitation } from "./citations.ts";
import { writeImage } from "./images.ts";
import { writeStopReason } from "./stop-reasons.ts";
import { writeMessageUsage } from "./usage.ts";

/** A whole answer as a message; of several choices, the first. */
export function writeMessagesAnswer(answer: Answer, client: ClientContext): string {
  const { blocks = [], stop = { reason: "end" } as const } = answer.choices[0] ?? {};
  const head = JSON.stringify(messageHead(answer.model, client)).slice(0, -1);
  const tail = JSON.stringify({
    ...writeStop(
      stop,
      blocks.some(({ kind }) => kind === "refusal"),
    ),
    usage: writeMessageUsage(answer.usage ?? {}, answer.serviceTier),
  });
  const content = withoutLateThought(blocks).flatMap(writeAnswerBlock);
  return `${head},"content":[${content.join(",")}],${tail.slice(1)}`;
}

/**
 * Without signatures after the text of an answer, which belong to no thought: clients take an answer's last block for
 * the answer, and makers that sign that late (Google) do without.
 */
function withoutLateThought(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  const last = blocks.at(-1);
  const isSignature = last?.kind === "reasoning" && last.text === "" && (last.summary ?? []).length === 0;
  const isLate = isSignature && blocks.some(({ kind }) => kind === "text" || kind === "image");
  return isLate ? withoutLateThought(blocks.slice(0, -1)) : blocks;
}

export function messageHead(model: string, client: ClientContext) {
  return { id: `msg_${client.callId}`, type: "message", role: "assistant", model: client.shownModel ?? model };
}

/** The stop reason of a message, both in a whole one and in `message_delta`. */
export function writeStop({ reason, sequence, details }: Stop, refuses: boolean): JsonObject {
  const word = writeStopReason(reason, refuses);
  return {
    stop_reason: word,
    stop_sequence: sequence ?? null,
    stop_details: word === "refusal" ? (details ?? null) : null,
    container: null,
  };
}

/** The usage of a message that has begun, before the upstream has counted. */
export function startUsage({ inputTokensEstimate: input }: ClientContext): JsonObject {
  return writeMessageUsage({ input: Math.max(1, input), output: 1 }, undefined);
}

/** A block as JSON text, or none if Messages has no counterpart. */
function writeAnswerBlock(block: AnswerBlock): string[] {
  switch (block.kind) {
    case "text":
      return [JSON.stringify(writeText(block))];
    case "refusal":
      return [JSON.stringify({ type: "text", text: block.text, citations: [] })];
    case "reasoning":
      return [JSON.stringify(writeReasoning(block))];
    case "tool-call":
      return [...callSignature(block), writeToolUse(block)];
    case "image":
      return [JSON.stringify({ type: "text", text: writeImage(block), citations: [] })];
    case "native":
      return block.dialect === "messages" ? [JSON.stringify(block.value)] : [];
  }
}

/**
 * The arguments are inserted as the model wrote them: a long number keeps its digits. Text that is not an object is
 * kept.
 */
function writeToolUse(call: ToolCallPart): string {
  const text = call.arguments.trim() === "" ? "{}" : call.arguments;
  const input = parseObject(text) === undefined ? JSON.stringify({ INVALID_JSON: text }) : text;
  const { input: _, ...start } = toolUse(call);
  return `${JSON.stringify(start).slice(0, -1)},"input":${input}}`;
}

/** Citations are always a list: the schema requires the member, and some clients do not accept null. */
function writeText({ text, citations = [] }: TextPart): JsonObject {
  return { type: "text", text, citations: citations.map(writeCitation).filter((citation) => citation !== undefined) };
}

/** The start of a thought, or a whole encrypted one. */
export function reasoningStart({ redacted, signature }: ReasoningPart): JsonObject {
  if (redacted === true && signature !== undefined) {
    return { type: "redacted_thinking", data: tagSignature(signature, "cipher", "messages") };
  }
  return { type: "thinking", thinking: "", signature: "" };
}

/** The separator between the summaries of a thought. */
export const summarySeparator = "\n\n";

function writeReasoning(part: ReasoningPart): JsonObject {
  const { text, summary = [], signature, redacted } = part;
  if (redacted === true && signature !== undefined) return reasoningStart(part);
  return {
    type: "thinking",
    thinking: [...(text === "" ? [] : [text]), ...summary].join(summarySeparator),
    signature: signature === undefined ? "" : tagSignature(signature, "thought", "messages"),
  };
}

/** The thought that carries a call's signature, for which calls have no member. */
function callSignature(call: ToolCallPart): string[] {
  const sealed = taggedCall(call);
  return sealed === undefined ? [] : [JSON.stringify({ type: "thinking", thinking: "", signature: sealed })];
}

export function taggedCall({ signature }: ToolCallPart): string | undefined {
  return signature === undefined ? undefined : tagSignature(signature, "call", "messages");
}

/** The start of a call. */
export function toolUse({ callId, name }: ToolCallPart): JsonObject {
  return { type: "tool_use", id: plainCallId(callId), name, input: {}, caller: { type: "direct" } };
}
