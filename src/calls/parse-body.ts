import { isUtf8 } from "node:buffer";
import type { z } from "zod";
import {
  duplicateKey,
  fromBytewise,
  GatewayError,
  type JsonMember,
  type JsonString,
  limits,
  scanObject,
} from "../core/index.ts";
import { acceptsAsItIs } from "./accept-body.ts";
import { type Elided, elideStrings } from "./elide-strings.ts";

/**
 * A request body in the forms that the pipeline needs. It is read byte by byte, as Latin-1: that costs a fraction of
 * decoding a large body, and what is not touched goes out as it came.
 */
export interface ParsedBody<Body> {
  kind: "json";
  bytes: Buffer;
  /** The bytes, one character each: an index is an offset. */
  text: string;
  /** Where the members of the object stand in `text`. */
  members: readonly JsonMember[];
  /**
   * What it says. Its keys, and all strings in the members that are only measured, are bytewise; other values are decoded.
   * Long strings of measured members are left out, but for their beginnings: `sizeOf` knows their sizes.
   */
  body: Body;
  /** At most how many bytes of UTF-8 a string of a measured member has: exact, unless escapes and letters are mixed. */
  sizeOf: (text: string) => number;
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
  if (!isUtf8(received)) throw invalid("The body is not valid UTF-8.");
  const bytes = withoutMark(Buffer.from(received.buffer, received.byteOffset, received.byteLength));
  const text = bytes.toString("latin1");
  const scan = scanObject(text, limits.jsonDepthMax);
  if ("refused" in scan) {
    throw invalid(
      scan.refused === "too-deep"
        ? `The body nests more than ${limits.jsonDepthMax} levels deep.`
        : "The body must be a JSON object.",
    );
  }
  const { members, longStrings } = scan;
  const elided = elideMeasured(text, longStrings, members, measured);
  const value = parseJson(elided?.text ?? text);
  // Ours would be the last of the two, an upstream's may be the first: one price, another model.
  const twice = duplicateKey(members);
  if (twice !== undefined) {
    const key = fromBytewise(twice).slice(0, 80);
    throw invalid(`The body has the key ${JSON.stringify(key)} twice.`, key);
  }
  for (const member of members) if (!measured.includes(member.key)) decodeMember(value, text, member);
  // An escaped letter is one character already, one that was written out is as many as it has bytes.
  const plain = text.includes("\\u") ? byteLengthOf : lengthOf;
  const sizeOf = elided === undefined ? plain : (string: string): number => elided.sizeOf(string, plain);
  return { kind: "json", bytes, text, members, body: checkBody(value, schema), sizeOf };
}

/** Undefined where no measured member holds a long string. */
function elideMeasured(
  text: string,
  longStrings: readonly JsonString[],
  members: readonly JsonMember[],
  measured: readonly string[],
): Elided | undefined {
  if (longStrings.length === 0) return undefined;
  const places = members.filter(({ key }) => measured.includes(key));
  const within = longStrings.filter(({ start }) =>
    places.some(({ valueStart, valueEnd }) => start >= valueStart && start < valueEnd),
  );
  return within.length === 0 ? undefined : elideStrings(text, within);
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
  throw invalid("The body is not valid JSON.");
}

/** Reads one member anew where it holds letters outside ASCII. */
function decodeMember(value: object, text: string, { key, valueStart, valueEnd }: JsonMember): void {
  const written = text.slice(valueStart, valueEnd);
  const decoded = fromBytewise(written);
  if (decoded !== written) Object.defineProperty(value, key, { value: JSON.parse(decoded), enumerable: true });
}

/** Throws a 422 `GatewayError` that names the field. */
export function checkBody<Body>(value: unknown, schema: z.ZodType<Body>): Body {
  if (acceptsAsItIs(schema, value)) return value;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw invalid(`${path === "" ? "body" : path}: ${issue?.message ?? "not valid"}`, path === "" ? undefined : path);
}

function invalid(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, param === undefined ? {} : { param });
}
