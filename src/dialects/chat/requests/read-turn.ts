import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  invalid,
  member,
  type Part,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningPart,
  type Signature,
  type ToolCallPart,
  type Turn,
  nativeOrigin,
  untagSignature,
} from "../../conversation/index.ts";
import { readImage } from "../answers/images.ts";
import { signatureIn } from "../answers/open-thought.ts";
import { detailsIn, textOfDetail, type ThoughtData, writeThoughtData } from "../thought-data.ts";
import { readContent, readPart, textsOnly } from "./read-parts.ts";

const roles = ["system", "developer", "user", "assistant", "tool"] as const;

/** One message. */
export function readTurn(value: unknown, at: string): Turn {
  const message = readObject(value, at);
  if (message["role"] === "function")
    throw invalid(`${at}.role`, "is the former name of tool, which must be used here");
  const role = readOneOf(message["role"], `${at}.role`, roles);
  return { role, at, name: member(message, "name", at, readText), parts: readParts(role, message, at) };
}

function readParts(role: Turn["role"], message: JsonObject, at: string): Part[] {
  const path = `${at}.content`;
  switch (role) {
    case "assistant":
      return readAssistant(message, at);
    case "tool":
      return [
        {
          kind: "tool-result",
          at: `${at}.tool_call_id`,
          callId: readWord(message["tool_call_id"], `${at}.tool_call_id`),
          // OpenAI's own results contain only text; other upstreams accept images from tools.
          content: readContent(message["content"], path).map(checkResult),
        },
      ];
    case "user":
      return readContent(message["content"], path);
    case "system":
    case "developer":
      return textsOnly(readContent(message["content"], path), path);
  }
}

function checkResult(part: Part): Part {
  if (part.kind === "text" || part.kind === "image" || part.kind === "file") return part;
  throw invalid(part.at ?? "messages", "has no place in the result of a tool");
}

/** A model's thoughts come before its text, and its calls come last. */
function readAssistant(message: JsonObject, at: string): Part[] {
  if (message["function_call"] !== undefined && message["function_call"] !== null) {
    throw invalid(`${at}.function_call`, "is the former name of tool_calls, which must be used here");
  }
  const parts: Part[] = readReasoning(message, at);
  const content = message["content"];
  if (content !== undefined && content !== null) parts.push(...readSaid(content, `${at}.content`));
  const refusal = member(message, "refusal", at, readText);
  if (refusal !== undefined) parts.push({ kind: "refusal", at: `${at}.refusal`, text: refusal });
  const audio = member(message, "audio", at, readObject);
  if (audio !== undefined) parts.push({ kind: "native", at: `${at}.audio`, dialect: "chat", value: { audio } });
  for (const image of member(message, "images", at, readList) ?? []) {
    const part = readImage(image);
    if (part !== undefined) parts.push({ ...part, at: `${at}.images` });
  }
  const calls = member(message, "tool_calls", at, readList) ?? [];
  for (const [index, call] of calls.entries()) parts.push(readCall(call, `${at}.tool_calls.${index}`));
  if (parts.length === 0) throw invalid(`${at}.content`, "must be there where there are no tool_calls");
  return parts;
}

function readSaid(content: unknown, at: string): Part[] {
  if (!Array.isArray(content)) return readContent(content, at);
  return content.map((value: unknown, index) => {
    const path = `${at}.${index}`;
    const part = readThought(value, path) ?? readPart(value, path);
    if (part.kind === "text" || part.kind === "refusal" || part.kind === "reasoning") return part;
    throw invalid(path, "an assistant's message holds text only");
  });
}

/** A thought among the parts of the content (Mistral). */
function readThought(value: unknown, at: string): ReasoningPart | undefined {
  const { type, thinking } = objectOf(value) ?? {};
  if (type !== "thinking" || !Array.isArray(thinking)) return undefined;
  const texts = thinking.map((part: unknown) => objectOf(part)?.["text"]);
  return { kind: "reasoning", at, text: texts.filter((text) => typeof text === "string").join("") };
}

function readCall(value: unknown, at: string): ToolCallPart {
  const call = readObject(value, at);
  const type = readOneOf(call["type"] ?? "function", `${at}.type`, ["function", "custom"]);
  const members = readObject(call[type], `${at}.${type}`);
  const field = type === "custom" ? "input" : "arguments";
  const extra = objectOf(call["extra_content"]);
  return {
    kind: "tool-call",
    at,
    callId: readWord(call["id"], `${at}.id`),
    name: readWord(members["name"], `${at}.${type}.name`),
    arguments: readText(members[field], `${at}.${type}.${field}`),
    custom: type === "custom" ? true : undefined,
    // Data that an upstream of this dialect has attached to its call, and requires back.
    signature: extra === undefined ? undefined : signatureOf(extra),
  };
}

/** One of another API, which the gateway has put there, or the whole object. */
function signatureOf(extra: JsonObject): Signature {
  const sealed = objectOf(extra["google"])?.["thought_signature"];
  const read = typeof sealed === "string" ? untagSignature(sealed, "chat") : undefined;
  return read?.use === "call" ? read.signature : { origin: nativeOrigin("chat"), value: JSON.stringify(extra) };
}

/** Encrypted or signed thoughts are in `reasoning_details`, which contain the plain text as well. */
function readReasoning(message: JsonObject, at: string): ReasoningPart[] {
  const { reasoning_content: content, reasoning } = message;
  const parts = detailsIn(message["reasoning_details"]).map((detail) => readDetail(detail, at));
  if (parts.length === 0) {
    const [text, place] =
      content === undefined || content === null
        ? ([reasoning, "reasoning"] as const)
        : ([content, "reasoning_content"] as const);
    if (typeof text === "string" && text !== "")
      parts.push({ kind: "reasoning", at, text, signature: own({ details: [], place }, text) });
  }
  const extra = signatureIn(message);
  return extra === undefined
    ? parts
    : [...parts, { kind: "reasoning", at, text: "", signature: own({ details: [], extra }, "") }];
}

/** A thought of the upstream that the client has called directly; only an upstream of this dialect gets its data. */
function own(data: ThoughtData, text: string): Signature {
  return { origin: nativeOrigin("chat"), value: writeThoughtData(data, text) };
}

/** A detail that the gateway has written for another upstream, or one of the client's own upstream. */
function readDetail(detail: JsonObject, at: string): ReasoningPart {
  const { type, data, signature } = detail;
  const text = textOfDetail(detail);
  const sealed = type === "reasoning.encrypted" ? data : signature;
  const read = typeof sealed === "string" ? untagSignature(sealed, "chat") : undefined;
  return {
    kind: "reasoning",
    at,
    text,
    signature: read?.use === undefined ? own({ details: [detail] }, text) : read.signature,
    ...(type === "reasoning.encrypted" ? { redacted: true } : {}),
  };
}
