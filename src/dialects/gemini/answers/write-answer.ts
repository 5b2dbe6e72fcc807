import { type JsonObject, objectOf, parseObject } from "../../../core/index.ts";
import {
  type Answer,
  type AnswerBlock,
  type AnswerChoice,
  type Citation,
  type ClientContext,
  type ImagePart,
  type ReasoningPart,
  type Signature,
  type Stop,
  type ToolCallPart,
} from "../../conversation/index.ts";
import { camelMember, inCamel } from "../camel.ts";
import { writeSignature } from "../signatures.ts";
import { writeGrounding } from "./grounding.ts";
import { writeFinishReason } from "./stop-reasons.ts";
import { writeUsage } from "./write-usage.ts";

/** A whole answer. The parts are JSON text: arguments stand in them as the model wrote them. */
export function writeGeminiAnswer(answer: Answer, client: ClientContext): string {
  const shows = showsThoughts(client.request);
  const candidates = answer.choices.map((choice, index) => writeCandidate(choice, index, shows));
  const tail = JSON.stringify({ usageMetadata: writeUsage(answer.usage ?? {}), ...identityOf(answer.model, client) });
  return `{"candidates":[${candidates.join(",")}],${tail.slice(1)}`;
}

function writeCandidate({ blocks, stop }: AnswerChoice, index: number, shows: boolean): string {
  const parts = blocks.flatMap((block) => writePart(block, shows));
  const citations = blocks.flatMap((block) => (block.kind === "text" ? (block.citations ?? []) : []));
  const refuses = blocks.some(({ kind }) => kind === "refusal");
  return candidateOf(parts, { index, ...writeEnd({ stop, refuses, citations }) });
}

/** A candidate without parts has an empty text: SDKs drop a turn without any. */
export function candidateOf(parts: readonly string[], others: JsonObject): string {
  const shown = parts.length === 0 ? EMPTY_TEXT : parts.join(",");
  return `{"content":{"parts":[${shown}],"role":"model"},${JSON.stringify(others).slice(1)}`;
}

const EMPTY_TEXT = `{"text":""}`;

/** The members of a candidate at its end. */
export function writeEnd(end: { stop: Stop; refuses: boolean; citations: readonly Citation[] }): JsonObject {
  return { finishReason: writeFinishReason(end.stop.reason, end.refuses), ...writeGrounding(end.citations) };
}

export function identityOf(model: string, { shownModel, callId }: ClientContext): JsonObject {
  return { modelVersion: shownModel ?? model, responseId: callId };
}

/**
 * Whether the client gets the text of thoughts: if it asks for them, or offers functions, whose calls some upstreams take back
 * only with the thoughts before them. Others would show them as a part of the answer.
 */
export function showsThoughts(request: JsonObject): boolean {
  const thinking = objectOf(camelMember(request, "generationConfig")?.["thinkingConfig"]) ?? {};
  if (inCamel(thinking)["includeThoughts"] === true) return true;
  const { tools } = request;
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [tools];
  return list.some((tool) => inCamel(objectOf(tool) ?? {})["functionDeclarations"] !== undefined);
}

/** A block as the JSON text of a part, or of none. */
function writePart(block: AnswerBlock, shows: boolean): string[] {
  switch (block.kind) {
    case "text":
    case "refusal":
      return block.text === "" ? [] : [JSON.stringify({ text: block.text })];
    case "reasoning": {
      const text = shows ? textOfThought(block) : "";
      return text === "" && block.signature === undefined ? [] : [writeThought(text, block.signature)];
    }
    case "tool-call":
      return [writeCall(block)];
    case "image":
      return [writeImage(block)];
    case "native":
      return block.dialect === "gemini" ? [JSON.stringify(block.value)] : [];
  }
}

/** The separator between the summaries of a thought. */
export const summarySeparator = "\n\n";

function textOfThought({ text, summary = [] }: ReasoningPart): string {
  return [...(text === "" ? [] : [text]), ...summary].join(summarySeparator);
}

export function writeThought(text: string, signature: Signature | undefined): string {
  const sealed = signature === undefined ? {} : { thoughtSignature: writeSignature(signature, "thought") };
  return JSON.stringify({ text, thought: true, ...sealed });
}

/** Arguments that are no object are kept as text. */
export function writeCall({ callId: id, name, arguments: text, signature }: ToolCallPart): string {
  const call = `"functionCall":{${JSON.stringify({ id, name }).slice(1, -1)},"args":${argsOf(text)}}`;
  if (signature === undefined) return `{${call}}`;
  return `{${call},"thoughtSignature":${JSON.stringify(writeSignature(signature, "call"))}}`;
}

/** On one line, since an event has one: line ends stand only between the tokens of JSON, not in its strings. */
function argsOf(text: string): string {
  if (text.trim() === "") return "{}";
  return parseObject(text) === undefined ? JSON.stringify({ INVALID_JSON: text }) : text.replace(/[\r\n]+/g, " ");
}

export function writeImage({ source }: ImagePart): string {
  switch (source.kind) {
    case "base64":
      return JSON.stringify({ inlineData: { mimeType: source.mediaType, data: source.data } });
    case "url":
      return JSON.stringify({ fileData: { fileUri: source.url } });
    case "stored":
      return JSON.stringify({ fileData: { fileUri: source.id } });
  }
}
