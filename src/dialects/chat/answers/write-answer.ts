import { type JsonObject, parseObject } from "../../../core/index.ts";
import {
  type Answer,
  type AnswerChoice,
  type ClientContext,
  nativeOrigin,
  type ReasoningPart,
  type Signature,
  tagSignature,
  type TextPart,
  type ToolCallPart,
} from "../../conversation/index.ts";
import { readThoughtData } from "../thought-data.ts";
import { writeCitations } from "./citations.ts";
import { writeImage } from "./images.ts";
import { writeFinishReason } from "./stop-reasons.ts";
import { writeChatUsage } from "./write-usage.ts";

/** A whole answer as a chat completion. */
export function writeChatAnswer(answer: Answer, client: ClientContext): string {
  return JSON.stringify({
    ...identityOf(answer, client),
    object: "chat.completion",
    choices: answer.choices.map(writeChoice),
    ...(answer.usage === undefined ? {} : { usage: writeChatUsage(answer.usage) }),
    ...(answer.serviceTier === undefined ? {} : { service_tier: answer.serviceTier }),
  });
}

/** The common part of a whole answer and of each of its chunks. */
export function identityOf({ model, created }: Pick<Answer, "model" | "created">, client: ClientContext) {
  return { id: `chatcmpl-${client.callId}`, created: created ?? client.created, model };
}

function writeChoice({ blocks, stop }: AnswerChoice, index: number): JsonObject {
  const texts = blocks.filter((block) => block.kind === "text");
  const calls = blocks.filter((block) => block.kind === "tool-call").map(writeCall);
  const refusals = blocks.filter((block) => block.kind === "refusal");
  const reasoning = blocks.filter((block) => block.kind === "reasoning");
  const logprobs = texts.flatMap((text) => text.logprobs ?? []);
  const annotations = writeAnnotations(texts);
  const images = blocks.filter((block) => block.kind === "image").map(writeImage);
  const message = {
    role: "assistant",
    content: texts.length === 0 ? null : joined(texts),
    refusal: refusals.length === 0 ? null : joined(refusals),
    ...writeReasoning(reasoning),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    index,
    message,
    logprobs: logprobs.length === 0 ? null : { content: logprobs, refusal: null },
    finish_reason: writeFinishReason(stop.reason),
  };
}

function joined(parts: readonly { text: string }[]): string {
  return parts.map(({ text }) => text).join("");
}

function writeAnnotations(texts: readonly TextPart[]): JsonObject[] {
  let from = 0;
  return texts.flatMap(({ text, citations = [] }) => {
    const start = from;
    from += text.length;
    return writeCitations(citations, start, from);
  });
}

function writeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  const text = parts.map(textOfReasoning).join("");
  const details = parts.map(writeReasoningDetail).filter((detail) => detail !== undefined);
  const own = ownThoughts(parts);
  const listed = [...details.map((detail, index) => ({ ...detail, index })), ...own.details];
  return {
    ...(text === "" ? {} : { [own.place ?? "reasoning_content"]: text }),
    ...(listed.length === 0 ? {} : { reasoning_details: listed }),
    ...own.members,
  };
}

/** The data of thoughts that an upstream of this dialect has sent, as it has sent them: of an answer that is written again. */
export function ownThoughts(parts: readonly ReasoningPart[]): {
  details: JsonObject[];
  place: "reasoning_content" | "reasoning" | undefined;
  members: JsonObject;
} {
  const read = parts
    .filter((part) => isOwn(part.signature))
    .map((part) => readThoughtData(part.signature?.value ?? "", textOfReasoning(part)));
  const [extra, cipher] = [read.findLast((data) => data.extra)?.extra, read.findLast((data) => data.cipher)?.cipher];
  const place = read.findLast((data) => data.place)?.place;
  return {
    details: read.flatMap(({ details }) => details),
    place: place === "think" ? undefined : place,
    members: {
      ...(extra !== undefined && { extra_content: extra }),
      ...(cipher !== undefined && { encrypted_content: cipher }),
    },
  };
}

function isOwn(signature: Signature | undefined): boolean {
  return signature?.origin === nativeOrigin("chat");
}

/** The visible part of a thought: its text, or its summaries. */
function textOfReasoning({ text, summary = [] }: ReasoningPart): string {
  return text === "" ? summary.join("") : text;
}

/** A thought with its signature, for a client that returns it; OpenAI has no field for it, others have this one. */
export function writeReasoningDetail(part: ReasoningPart): JsonObject | undefined {
  const { signature, redacted } = part;
  if (signature === undefined || signature.value === "" || isOwn(signature)) return undefined;
  if (redacted === true) return { type: "reasoning.encrypted", data: tagSignature(signature, "cipher", "chat") };
  return { type: "reasoning.text", text: textOfReasoning(part), signature: tagSignature(signature, "thought", "chat") };
}

function writeCall({ callId: id, name, arguments: input, custom, signature }: ToolCallPart): JsonObject {
  if (custom === true) return { id, type: "custom", custom: { name, input: input } };
  const call = { id, type: "function", function: { name, arguments: input === "" ? "{}" : input } };
  return { ...call, ...signatureOfCall(signature) };
}

/** The member of a call with its signature, in the place of Google's chat endpoint, whose clients return it. */
export function signatureOfCall(signature: Signature | undefined): JsonObject {
  if (signature === undefined || signature.value === "") return {};
  const own = isOwn(signature) ? parseObject(signature.value) : undefined;
  if (own !== undefined) return { extra_content: own };
  return { extra_content: { google: { thought_signature: tagSignature(signature, "call", "chat") } } };
}
