import { isOpaqueText, jsonBytes, type Measure as Measuring, Measure, type SizeOf } from "../../bodies/index.ts";
import {
  type JsonObject,
  listOf,
  MESSAGE_TOKENS_MAX,
  objectOf,
  type UsageBucket,
  type WorkBound,
} from "../../core/index.ts";
import { camelMember, inCamel } from "./camel.ts";
import type { GeminiRequest } from "./request.ts";

/** The fields whose size is the size of the input, in both spellings. */
export const opaqueFields = [
  "contents",
  "systemInstruction",
  "system_instruction",
  "tools",
  "generationConfig",
  "generation_config",
] as const;

/** As in `boundChat`: a token contains at least one byte. */
export function boundGemini(body: GeminiRequest, sizeOf: SizeOf): WorkBound {
  const measure = new Measure(sizeOf);
  const members = inCamel(body);
  const config = camelMember(body, "generationConfig") ?? {};
  const { responseSchema, responseJsonSchema, _responseJsonSchema: formerSchema } = config;
  let inputTokens = contentTokens(members["systemInstruction"], measure) + jsonBytes(members["tools"], measure);
  for (const content of listIn(body.contents)) inputTokens += MESSAGE_TOKENS_MAX + contentTokens(content, measure);
  for (const schema of [responseSchema, responseJsonSchema, formerSchema]) inputTokens += jsonBytes(schema, measure);
  if (runsTools(members["tools"])) inputTokens += measure.unknown();
  return {
    inputTokens,
    outputTokens: countIn(config["maxOutputTokens"]),
    choices: countIn(config["candidateCount"]) ?? 1,
    ...measure.bound(true),
    ...generatedMedia(listIn(config["responseModalities"])),
  };
}

/** A number may stand for any modality: protobuf's JSON has both. */
function generatedMedia(modalities: readonly unknown[]): Pick<WorkBound, "outputBuckets"> | undefined {
  const asks = (name: string): boolean =>
    modalities.some((one) => typeof one !== "string" || one.toUpperCase() === name);
  const buckets: UsageBucket[] = [
    ...(asks("AUDIO") ? (["outputAudio"] as const) : []),
    ...(asks("IMAGE") ? (["outputImage"] as const) : []),
  ];
  return buckets.length === 0 ? undefined : { outputBuckets: buckets };
}

/** A number, also as protobuf writes those of 64 bits; undefined for any other value. */
function countIn(value: unknown): number | undefined {
  const count = typeof value === "string" ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

/** Tools that the upstream runs add unknown content: pages, files, a program's output. */
const addingTools = ["urlContext", "url_context", "codeExecution", "code_execution", "fileSearch", "file_search"];

function runsTools(tools: unknown): boolean {
  return listIn(tools).some((tool) => addingTools.some((name) => objectOf(tool)?.[name] !== undefined));
}

/** A list, or the one object that may stand for it. */
function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return listOf(value);
  return value === undefined || value === null ? [] : [value];
}

function contentTokens(content: unknown, measure: Measuring): number {
  if (isOpaqueText(content)) return measure.sizeOf(content);
  const members = objectOf(content) ?? {};
  let tokens = othersTokens(members, ownMembers, measure);
  for (const part of listIn(members["parts"])) tokens += partTokens(part, measure);
  return tokens;
}

const ownMembers: ReadonlySet<string> = new Set(["parts", "role"]);
const ownOfPart: ReadonlySet<string> = new Set(["inlineData", "fileData", "functionResponse", "text"]);

/** Of all members but these; most objects have no others. */
function othersTokens(object: JsonObject, own: ReadonlySet<string>, measure: Measuring): number {
  let others: Record<string, unknown> | undefined;
  for (const name in object) if (!own.has(name)) (others ??= {})[name] = object[name];
  return others === undefined ? 0 : jsonBytes(others, measure);
}

/** Every member of a part counts, although only one of them is sent. */
function partTokens(value: unknown, measure: Measuring): number {
  const part = objectOf(value);
  if (part === undefined) return jsonBytes(value, measure);
  const members = inCamel(part);
  const { inlineData, fileData, functionResponse, text } = members;
  let tokens = othersTokens(members, ownOfPart, measure);
  if (text !== undefined) tokens += isOpaqueText(text) ? measure.sizeOf(text) : jsonBytes(text, measure);
  if (inlineData !== undefined) tokens += inlineTokens(inlineData, measure);
  if (fileData !== undefined) tokens += measure.unknown() + jsonBytes(fileData, measure);
  return functionResponse === undefined ? tokens : tokens + resultTokens(functionResponse, measure);
}

function resultTokens(result: unknown, measure: Measuring): number {
  const { parts, ...rest } = objectOf(result) ?? {};
  const nested = listOf(parts);
  const own = jsonBytes(nested.length > 0 ? rest : result, measure);
  return nested.reduce((sum: number, part) => sum + partTokens(part, measure), own);
}

function inlineTokens(value: unknown, measure: Measuring): number {
  const inline = objectOf(value);
  if (inline === undefined) return jsonBytes(value, measure);
  const members = inCamel(inline);
  return dataTokens(members, measure) + jsonBytes(members["displayName"], measure);
}

function dataTokens({ mimeType, data }: JsonObject, measure: Measuring): number {
  const type = typeof mimeType === "string" ? mimeType.toLowerCase() : "";
  if (type.startsWith("image/")) return measure.image();
  if (type.startsWith("audio/")) return measure.audio(data);
  if (type.startsWith("text/")) return measure.document(data, true);
  return type === "application/pdf" ? measure.document(data, false) : measure.unknown();
}
