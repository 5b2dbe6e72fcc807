import { isAscii, isUtf8 } from "node:buffer";
import type { z } from "zod";
import { GatewayError, type JsonObject, limits, objectOf, parseObject } from "../../core/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import { decodeInSteps } from "./decode-in-steps.ts";
import { matchesWithoutCopy } from "./accept-body.ts";
import { editBytes } from "./edit.ts";
import { checkMemberNames, readNames } from "./member-names.ts";
import { type TruncatedStrings, truncateLongStrings } from "./truncate-long-strings.ts";
import { type SizeOf, sizeOfBy } from "./measure.ts";
import { type JsonMember, type JsonString, scanObject } from "./scan.ts";

/**
 * A request body in the forms that the pipeline needs. Unchanged parts are sent as they came, and most of the opaque
 * fields never become strings, which costs a fraction of decoding a large body.
 */
export interface ParsedBody<Body> {
  kind: "json";
  bytes: Buffer;
  /** The positions of the object's members in `bytes`. */
  members: readonly JsonMember[];
  /** The positions of long strings in `bytes`. */
  longStrings: readonly JsonString[];
  /** The number of keys in all inner objects of `bytes`, those that stand twice included. */
  innerKeys: number;
  /** The bytes as Latin-1, one character each. Long strings of opaque fields, and of unknown ones, are truncated. */
  text: string;
  /**
   * The parsed `text`. Its keys, and all strings in opaque fields, are Latin-1; the values of other members are
   * decoded, except for members without a schema that contain a long string. `sizeOf` knows the sizes of truncated
   * strings.
   */
  body: Body;
  /**
   * An upper bound of the bytes of UTF-8 of a string in an opaque field: exact, unless escapes and non-ASCII letters
   * are mixed.
   */
  sizeOf: SizeOf;
  /** Members that stand in the request's address, and are in `body` but not in `bytes`; they replace those of the same name. */
  named?: JsonObject | undefined;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

const lengthOf = (text: string): number => text.length;
const byteLengthOf = (text: string): number => Buffer.byteLength(text);

/**
 * Parses and validates a JSON body. For the members in `measured` only the size matters, so their long strings are
 * truncated in `body`, like those of members that `schema` does not contain. `named`: members of the request's address. Throws
 * a 422 `GatewayError` that names the field or the syntax error.
 */
export function parseBody<Body>(
  received: Uint8Array,
  schema: z.ZodType<Body>,
  measured: readonly string[],
  named?: JsonObject,
): ParsedBody<Body> {
  const ascii = isAscii(received);
  if (!ascii && !isUtf8(received)) throw invalid("The body is not valid UTF-8.");
  const bytes = withoutMark(asBuffer(received));
  const scan = scanObject(bytes, bounds);
  if ("refused" in scan) throw invalid(refusals[scan.refused]);
  const { members, longStrings, innerKeys } = scan;
  const unread = longStrings.length === 0 ? longStrings : unreadStrings(longStrings, members, schema, measured);
  const elided = unread.length === 0 ? undefined : truncateLongStrings(bytes, unread);
  const text = elided?.text ?? bytes.toString("latin1");
  const value = parseJson(text);
  checkMemberNames(members, schema, measured);
  if (!ascii) {
    for (const member of members) {
      if (!measured.includes(member.key) && !hasAny(unread, member)) decodeMember(value, bytes, member);
    }
  }
  // An escaped letter is one character, a literal one has as many as its bytes.
  const plain = text.includes("\\u") ? byteLengthOf : lengthOf;
  const sizeOf = sizeOfBy(elided === undefined ? plain : sizeOfElided(elided, plain));
  const whole = named === undefined ? value : Object.assign(value, named);
  return { kind: "json", bytes, members, longStrings, innerKeys, text, body: checkBody(whole, schema), sizeOf, named };
}

/**
 * The model of a request whose address names it, or its provider, given the one in its body; undefined leaves the body as it is.
 * Throws a `GatewayError` if the two contradict each other.
 */
export type ModelOf = (inBody: string | undefined) => string | undefined;

/** The longest JSON text of a model's id: an escape has six bytes. */
const MODEL_BYTES_MAX = 6 * limits.modelIdCharactersMax + 2;

/**
 * The body with the model that the request's address means, a copy that counts in `memory` too: throws 503 if that has no room. A
 * longer text than a model has is none. Unchanged if it is no JSON object, which `parseBody` refuses.
 */
export function withModel(received: Uint8Array, modelOf: ModelOf, memory: MemoryShare): Uint8Array {
  const bytes = withoutMark(asBuffer(received));
  const scan = scanObject(bytes, bounds);
  if ("refused" in scan) return received;
  const { valueStart = 0, valueEnd = 0 } = scan.members.find(({ key }) => key === "model") ?? {};
  const text = valueEnd - valueStart > MODEL_BYTES_MAX ? "null" : bytes.toString("utf8", valueStart, valueEnd);
  const value = parseObject(`{"value":${text}}`)?.["value"];
  const model = modelOf(typeof value === "string" ? value : undefined);
  if (model === undefined) return received;
  memory.add(bytes.length);
  return Buffer.concat(editBytes(bytes, scan.members, [{ set: "model", value: JSON.stringify(model) }]));
}

/** The bytes of the value of the last of these members, as `JSON.parse` reads a repeated one; undefined if there is none. */
export function memberIn(received: Uint8Array, names: readonly string[]): Uint8Array | undefined {
  const bytes = withoutMark(asBuffer(received));
  const scan = scanObject(bytes, bounds);
  const found = "refused" in scan ? undefined : scan.members.findLast(({ key }) => names.includes(key));
  return found && bytes.subarray(found.valueStart, found.valueEnd);
}

/**
 * The whole body with all of its strings, for a translation. Throws a 422 `GatewayError` if one of the long strings that
 * `parseBody` does not read is invalid.
 */
export function decodeBody({ bytes, named }: Pick<ParsedBody<unknown>, "bytes" | "named">): JsonObject {
  const body = parseObject(bytes.toString("utf8"));
  if (body === undefined) throw invalid(refusals["not-json"]);
  return named === undefined ? body : { ...body, ...named };
}

/** The same in steps, with a pause after each, for a body whose decoding would block the thread for long. */
export async function decodeBodyInSteps(
  { bytes, longStrings, named }: Pick<ParsedBody<unknown>, "bytes" | "longStrings" | "named">,
  pause: () => Promise<void>,
): Promise<JsonObject> {
  let body: JsonObject | undefined;
  try {
    body = objectOf(await decodeInSteps(bytes, longStrings, pause));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  if (body === undefined) throw invalid(refusals["not-json"]);
  return named === undefined ? body : { ...body, ...named };
}

function sizeOfElided(elided: TruncatedStrings, plain: (text: string) => number): (text: string) => number {
  return (text) => elided.sizeOf(text, plain);
}

const bounds = {
  depthMax: limits.jsonDepthMax,
  membersMax: limits.jsonMembersMax,
  valuesMax: limits.jsonValuesMax,
  keysMax: limits.jsonKeysMax,
  bareBytesMax: limits.jsonBareBytesMax,
};

const refusals = {
  "too-deep": `The body nests more than ${limits.jsonDepthMax} levels deep.`,
  "too-many-members": `The body has more than ${limits.jsonMembersMax} keys.`,
  "too-many-bytes": `The body has more than ${limits.jsonBareBytesMax} bytes of numbers and white space.`,
  "too-many-keys": `The body has more than ${limits.jsonKeysMax} keys in its inner objects.`,
  "too-many-values": `The body has more than ${limits.jsonValuesMax} values.`,
  "not-an-object": "The body must be a JSON object.",
  "not-json": "The body is not valid JSON.",
} as const;

/**
 * The strings of members that the gateway only measures or does not know. Both lists are in the order of the text. Throws
 * 422 for a long string in another member: nobody writes a model's name of a megabyte.
 */
function unreadStrings(
  strings: readonly JsonString[],
  members: readonly JsonMember[],
  schema: z.ZodType,
  measured: readonly string[],
): readonly JsonString[] {
  const read = new Set(readNames(schema).filter((name) => !measured.includes(name)));
  const unread: JsonString[] = [];
  let at = 0;
  for (const string of strings) {
    while ((members[at]?.valueEnd ?? Number.POSITIVE_INFINITY) <= string.start) at += 1;
    const key = members[at]?.key;
    if (key === undefined || !read.has(key)) unread.push(string);
    else if (string.end - string.start > limits.readStringBytesMax) {
      throw invalid(`${key}: a text here has at most ${limits.readStringBytesMax} bytes.`, key);
    }
  }
  return unread;
}

function hasAny(strings: readonly JsonString[], { valueStart, valueEnd }: JsonMember): boolean {
  return strings.some(({ start }) => start >= valueStart && start < valueEnd);
}

/** A view of few bytes costs more than a copy, because it first allocates an object for the shared memory. */
const COPIED_BYTES_MAX = 4_096;

function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes.byteLength <= COPIED_BYTES_MAX) return Buffer.from(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === BYTE_ORDER_MARK[0] && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}

function parseJson(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Explained below.
  }
  throw invalid(refusals["not-json"]);
}

/** Decodes one member again if it contains non-ASCII letters. Keys with such letters are never read here. */
function decodeMember(value: object, bytes: Buffer, { key, valueStart, valueEnd }: JsonMember): void {
  const written = bytes.subarray(valueStart, valueEnd);
  if (isAscii(written) || !(key in value)) return;
  Object.defineProperty(value, key, { value: JSON.parse(written.toString("utf8")), enumerable: true });
}

/** Throws a 422 `GatewayError` that names the field. */
export function checkBody<Body>(value: unknown, schema: z.ZodType<Body>): Body {
  if (matchesWithoutCopy(schema, value)) return value;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") ?? "";
  const problem = issue === undefined ? "not valid" : problemOf(issue, value);
  throw invalid(`${path === "" ? "body" : path}: ${problem}`, path === "" ? undefined : path);
}

/** The fault of a value: the validator's own words are about its schema, not about the request. */
function problemOf(issue: z.core.$ZodIssue, value: unknown): string {
  const given = issue.path.reduce<unknown>(memberOf, value);
  if (given === undefined && issue.path.length > 0) return "is missing";
  if (issue.code !== "invalid_type" || issue.expected === "never") return issue.message;
  return `must be ${kinds[issue.expected] ?? issue.expected}, not ${kinds[kindOf(given)] ?? kindOf(given)}`;
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

function invalid(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, param === undefined ? {} : { param });
}
