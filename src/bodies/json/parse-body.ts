import { isAscii, isUtf8 } from "node:buffer";
import type { z } from "zod";
import { GatewayError, limits } from "../../core/index.ts";
import { matchesWithoutCopy } from "./accept-body.ts";
import { type TruncatedStrings, truncateLongStrings } from "./truncate-long-strings.ts";
import { type SizeOf, sizeOfBy } from "./opaque-text.ts";
import { duplicateKey, type JsonMember, type JsonString, scanObject } from "./scan.ts";

/**
 * A request body in the forms that the pipeline needs. What is not touched goes out as it came, and of what is only
 * measured most is never made a string: that costs a fraction of reading a large body.
 */
export interface ParsedBody<Body> {
  kind: "json";
  bytes: Buffer;
  /** Where the members of the object stand in `bytes`. */
  members: readonly JsonMember[];
  /** The bytes, one character each. Of long strings of measured members only the beginnings are left. */
  text: string;
  /**
   * What `text` says. Its keys, and all strings in the members that are only measured, are bytewise; the values of other
   * members are decoded. `sizeOf` knows the sizes of what is left out.
   */
  body: Body;
  /** At most how many bytes of UTF-8 a string of a measured member has: exact, unless escapes and letters are mixed. */
  sizeOf: SizeOf;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

const lengthOf = (text: string): number => text.length;
const byteLengthOf = (text: string): number => Buffer.byteLength(text);

/**
 * Parses and checks a JSON body. Of the members in `measured` nothing but the size matters to the gateway, so that their
 * long strings are left out of `body`. Throws a 422 `GatewayError` that names the field, or says what is wrong with the
 * JSON.
 */
export function parseBody<Body>(
  received: Uint8Array,
  schema: z.ZodType<Body>,
  measured: readonly string[],
): ParsedBody<Body> {
  const ascii = isAscii(received);
  if (!ascii && !isUtf8(received)) throw invalid("The body is not valid UTF-8.");
  const bytes = withoutMark(asBuffer(received));
  const scan = scanObject(bytes, limits.jsonDepthMax);
  if ("refused" in scan) throw invalid(refusals[scan.refused]);
  const { members, longStrings } = scan;
  const within = withinMembers(longStrings, members, measured);
  const elided = within.length === 0 ? undefined : truncateLongStrings(bytes, within);
  const text = elided?.text ?? bytes.toString("latin1");
  const value = parseJson(text);
  // Ours would be the last of the two, an upstream's may be the first: one price, another model.
  const twice = duplicateKey(members);
  if (twice !== undefined) {
    const key = twice.slice(0, 80);
    throw invalid(`The body has the key ${JSON.stringify(key)} twice.`, key);
  }
  if (!ascii) for (const member of members) if (!measured.includes(member.key)) decodeMember(value, bytes, member);
  // An escaped letter is one character already, one that was written out is as many as it has bytes.
  const plain = text.includes("\\u") ? byteLengthOf : lengthOf;
  const sizeOf = sizeOfBy(elided === undefined ? plain : sizeOfElided(elided, plain));
  return { kind: "json", bytes, members, text, body: checkBody(value, schema), sizeOf };
}

function sizeOfElided(elided: TruncatedStrings, plain: (text: string) => number): (text: string) => number {
  return (text) => elided.sizeOf(text, plain);
}

const refusals = {
  "too-deep": `The body nests more than ${limits.jsonDepthMax} levels deep.`,
  "not-an-object": "The body must be a JSON object.",
  "not-json": "The body is not valid JSON.",
} as const;

/** The strings that stand within the members of these keys. */
function withinMembers(
  strings: readonly JsonString[],
  members: readonly JsonMember[],
  keys: readonly string[],
): readonly JsonString[] {
  if (strings.length === 0) return strings;
  const places = members.filter(({ key }) => keys.includes(key));
  return strings.filter(({ start }) =>
    places.some(({ valueStart, valueEnd }) => start >= valueStart && start < valueEnd),
  );
}

/** A view of small bytes costs more than a copy: first it makes an object of the memory that they share. */
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
    // Said below.
  }
  throw invalid(refusals["not-json"]);
}

/** Reads one member anew where it holds letters outside ASCII. A key that has some is none that anybody here asks for. */
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
  throw invalid(`${path === "" ? "body" : path}: ${issue?.message ?? "not valid"}`, path === "" ? undefined : path);
}

function invalid(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, param === undefined ? {} : { param });
}
