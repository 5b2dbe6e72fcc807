/**
 * Prompts and answers as OpenTelemetry's conventions for generative AI write them: messages with a role and parts, in JSON.
 * https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai (gen-ai-input-messages.json and its neighbours)
 */
import { type Dialect, type JsonObject, parseObject } from "../core/index.ts";
import { type Answer, collectAnswer, type Part, type Source, translations } from "../dialects/index.ts";
import type { CallContent } from "./content-store.ts";

/** The attributes of a call's content; undefined for what there is not, or cannot be read. */
export interface ContentMessages {
  system: string | undefined;
  input: string | undefined;
  output: string | undefined;
  /** Whether texts were cut, or messages left out. */
  isCut: boolean;
}

interface Message {
  role: string;
  parts: JsonObject[];
  finish_reason?: string;
}

/** A text that is cut keeps so many characters at least. */
const TEXT_CHARACTERS_MIN = 64;

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

/** `bytesMax`: of each attribute. */
export function messagesOf(
  { body, answer }: CallContent,
  { dialect, callId, model, bytesMax }: { dialect: Dialect; callId: string; model: string; bytesMax: number },
): ContentMessages {
  const turns = body === undefined ? [] : turnsOf(dialect, Buffer.from(body).toString());
  const system = fitted(
    turns.filter(isSystem).flatMap(({ parts }) => parts),
    bytesMax,
  );
  const input = fitted(
    turns.filter((turn) => !isSystem(turn)),
    bytesMax,
  );
  const read = answer === undefined ? undefined : answerOf(Buffer.from(answer).toString(), { dialect, callId, model });
  const output = fitted(read?.choices.map(messageOf) ?? [], bytesMax);
  const isCut = body === undefined || answer === undefined || [system, input, output].some((each) => each.isCut);
  return { system: system.json, input: input.json, output: output.json, isCut };
}

/** Of a body that its provider accepts and this gateway cannot read there are none. */
function turnsOf(dialect: Dialect, text: string): Message[] {
  try {
    const { turns } = translations[dialect].readRequest(parseObject(text) ?? {});
    return turns.map(({ role, parts }) => ({ role, parts: parts.map(partOf) }));
  } catch {
    return [];
  }
}

/** A whole answer, or the sum of a stream's events, as far as that came. */
function answerOf(
  text: string,
  { dialect, callId, model }: { dialect: Dialect; callId: string; model: string },
): Answer | undefined {
  const upstream = { origin: "", callId, model, readUsage: () => undefined };
  const translation = translations[dialect];
  try {
    const whole = text.startsWith("{") ? parseObject(text) : undefined;
    if (whole !== undefined) return translation.readAnswer(whole, upstream);
    const reader = translation.streamReader(upstream);
    const lines = text.split(/\r\n|\r|\n/).filter((line) => line.startsWith("data:"));
    const events = [...lines.flatMap((line) => reader.read(line.slice("data:".length).trim())), ...reader.close()];
    return collectAnswer(events.filter(({ type }) => type !== "error"));
  } catch {
    return undefined;
  }
}

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end: "stop",
  "stop-sequence": "stop",
  "tool-calls": "tool_call",
  "content-filter": "content_filter",
  refusal: "content_filter",
};

const messageOf = ({ blocks, stop }: Answer["choices"][number]): Message => ({
  role: "assistant",
  parts: blocks.map(partOf),
  finish_reason: FINISH_REASONS[stop.reason] ?? "length",
});

function partOf(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
    case "refusal":
      return { type: "text", content: part.text };
    case "reasoning":
      return { type: "reasoning", content: part.text === "" ? (part.summary ?? []).join("\n") : part.text };
    case "tool-call":
      return { type: "tool_call", id: part.callId, name: part.name, arguments: part.arguments };
    case "tool-result":
      return { type: "tool_call_response", id: part.callId, response: part.content.map(partOf) };
    case "image":
      return fileOf("image", part.source);
    case "audio":
      return { type: "blob", modality: "audio", mime_type: `audio/${part.format}` };
    case "file":
      if (part.source.kind === "text") return { type: "text", content: part.source.text };
      if (part.source.kind === "parts") return { type: "document", content: part.source.parts.map(partOf) };
      return fileOf("document", part.source);
    case "native":
      return { type: typeof part.value["type"] === "string" ? part.value["type"] : part.dialect };
  }
}

/** The bytes of files are in no span. */
function fileOf(modality: string, source: Source): JsonObject {
  if (source.kind === "stored") return { type: "file", modality, file_id: source.id };
  if (source.kind === "base64") return { type: "blob", modality, mime_type: source.mediaType };
  return source.url.startsWith("data:") ? { type: "blob", modality } : { type: "uri", modality, uri: source.url };
}

/** A list as JSON within the bound: long texts are cut, and then the first items left out. */
function fitted(items: readonly unknown[], bytesMax: number): { json: string | undefined; isCut: boolean } {
  if (items.length === 0) return { json: undefined, isCut: false };
  const whole = JSON.stringify(items);
  if (Buffer.byteLength(whole) <= bytesMax) return { json: whole, isCut: false };
  // Up to six bytes a character.
  const charactersMax = Math.max(TEXT_CHARACTERS_MIN, Math.floor(bytesMax / 6 / items.length));
  const cut = items.map((item) => JSON.stringify(item, (_, value: unknown) => cutText(value, charactersMax)));
  let bytes = 1;
  let first = cut.length;
  for (; first > 0; first -= 1) {
    bytes += Buffer.byteLength(cut[first - 1] ?? "") + 1;
    if (bytes > bytesMax) break;
  }
  const kept = cut.slice(first);
  return { json: kept.length === 0 ? undefined : `[${kept.join(",")}]`, isCut: true };
}

const cutText = (value: unknown, charactersMax: number): unknown =>
  typeof value === "string" && value.length > charactersMax ? `${value.slice(0, charactersMax)}…` : value;
