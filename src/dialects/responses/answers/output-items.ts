import type { JsonObject } from "../../../core/index.ts";
import {
  type ImagePart,
  type ReasoningPart,
  tagSignature,
  type TextPart,
  type ToolCallPart,
  urlOfSource,
} from "../../conversation/index.ts";

/** The status of an item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The id of an item of an answer, by its position in the output. */
export function itemId(prefix: "msg" | "fc" | "ctc" | "rs" | "ig" | "cmp", callId: string, index: number): string {
  return `${prefix}_${callId}_${index}`;
}

export function messageItem(id: string, status: ItemStatus, content: readonly JsonObject[]): JsonObject {
  return { id, type: "message", status, role: "assistant", content };
}

export function callItem(
  { callId, name, namespace, custom }: ToolCallPart,
  id: string,
  status: ItemStatus,
  text: string,
): JsonObject {
  const head = { id, call_id: callId, name, ...(namespace === undefined ? {} : { namespace }) };
  if (custom === true) return { ...head, type: "custom_tool_call", input: text };
  return { ...head, type: "function_call", status, arguments: text };
}

/** An image, as OpenAI's tool for images makes it, or its own item; `data` is base64. */
export function imageItem({ native }: ImagePart, data: string, id: string): JsonObject {
  if (native?.dialect === "responses") return native.value;
  return { id, type: "image_generation_call", status: "completed", result: data };
}

/** An image by its address has no item of its own: it is a text, in Markdown. */
export function textOfImage({ source }: ImagePart): TextPart {
  const address = source.kind === "stored" ? source.id : urlOfSource(source);
  return { kind: "text", text: `![image](${address})` };
}

/** The arguments in this dialect: those of a function are JSON, by default an empty object. */
export function argumentsOf(text: string, custom: boolean | undefined): string {
  return text === "" && custom !== true ? "{}" : text;
}

/**
 * A thought, with its text as a summary: the text has its own field as well, but clients only show and return
 * summaries. Data that its maker requires back is in `encrypted_content`, whether or not `include` requests it.
 */
export function reasoningItem(
  { signature, redacted }: Omit<ReasoningPart, "kind" | "text">,
  id: string,
  summary: readonly string[],
): JsonObject {
  return {
    id,
    type: "reasoning",
    summary: summary.map(summaryPart),
    ...(signature === undefined
      ? {}
      : { encrypted_content: tagSignature(signature, redacted === true ? "cipher" : "thought", "responses") }),
  };
}

/** The last item of an answer: if the answer was cut off, the item was too. */
export function endItem(item: JsonObject, status: ItemStatus): JsonObject {
  const ours = item["type"] === "message" || item["type"] === "function_call";
  return ours && status === "incomplete" ? { ...item, status } : item;
}

export function summaryPart(text: string): JsonObject {
  return { type: "summary_text", text };
}

/** The thought that carries a call's signature, for which calls have no member. */
export function callSignatureItem({ signature }: ToolCallPart, id: string): JsonObject | undefined {
  if (signature === undefined) return undefined;
  return { id, type: "reasoning", summary: [], encrypted_content: tagSignature(signature, "call", "responses") };
}
