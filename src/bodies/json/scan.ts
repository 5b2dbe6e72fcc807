/**
 * Finds the members of a JSON object in its bytes, so that a call edits only the necessary ones and everything else
 * reaches the upstream byte for byte: number spellings, key order, white space, unknown fields.
 *
 * The scan is one pass over the bytes that jumps from quote to quote inside strings. It leaves the validity of values
 * to `JSON.parse` and only finds the bounds of the outermost object's members. It also limits the nesting before any
 * recursive code sees the text.
 */

/** One member of the outermost object; its value is the bytes from `valueStart` to `valueEnd`. */
export interface JsonMember {
  /** Decoded. */
  key: string;
  keyStart: number;
  valueStart: number;
  valueEnd: number;
}

/** The position of a value; of a string including its quotes. */
export interface JsonString {
  start: number;
  end: number;
}

export interface ScanBounds {
  /** Levels of brackets. */
  depthMax: number;
  /** Members of the outermost object. */
  membersMax: number;
  /** Values on every level; an empty list counts as two. */
  valuesMax: number;
  /** Keys on every level. */
  keysMax: number;
  /** Bytes of numbers, words and white space. */
  bareBytesMax: number;
}

type BeyondBounds = "too-deep" | "too-many-members" | "too-many-values" | "too-many-keys" | "too-many-bytes";

export type JsonScan =
  | {
      members: JsonMember[];
      longStrings: readonly JsonString[];
      /** The number of keys in all inner objects. */
      innerKeys: number;
    }
  | { refused: BeyondBounds | "not-an-object" | "not-json" };

/** Strings from this number of bytes on are long. */
const LONG_STRING = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** 1 for the bytes that separate values. */
const IS_STRUCTURAL = new Uint8Array(256);
for (const code of [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON]) IS_STRUCTURAL[code] = 1;

/** This many bytes are compared one by one before a native search is called: keys and words are shorter. */
const NEAR = 16;

/** Escaped quotes that are closer together are found faster one by one. */
const DENSE = 12;

/** The offset after the string that opens at `start`, or the bytes' length if it never closes. */
function endOfString(bytes: Buffer, start: number): number {
  let position = start + 1;
  for (;;) {
    const near = Math.min(position + NEAR, bytes.length);
    while (position < near) {
      const code = bytes[position];
      if (code === QUOTE) return position + 1;
      position += code === BACKSLASH ? 2 : 1;
    }
    let gap = DENSE;
    while (gap >= DENSE) {
      // A buffer's own `indexOf` takes half as long again.
      const quote = Uint8Array.prototype.indexOf.call(bytes, QUOTE, position);
      if (quote === -1) return bytes.length;
      if (!isEscaped(bytes, quote)) return quote + 1;
      gap = quote - position;
      position = quote + 1;
    }
  }
}

function isEscaped(bytes: Buffer, quote: number): boolean {
  let backslashes = 0;
  while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function skipSpace(bytes: Buffer, start: number): number {
  let position = start;
  while (isSpace(bytes[position])) position += 1;
  return position;
}

/** The offset after the last byte from `start` to `end` that is not white space. */
function trimEnd(bytes: Buffer, start: number, end: number): number {
  let position = end;
  while (position > start && isSpace(bytes[position - 1])) position -= 1;
  return position;
}

/** The decoded key: `"mod\u0065l"` is `model`, and must not bypass an edit of it. */
function readKey(bytes: Buffer, start: number, end: number): string {
  const written = bytes.toString("utf8", start + 1, end - 1);
  if (!written.includes("\\")) return written;
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written;
  }
}

/**
 * Finds the members of the outermost object, and long strings, and refuses an object beyond `bounds`. A refusal as
 * `not-json` is certain; an accepted text may still be invalid in its values.
 */
export function scanObject(bytes: Buffer, bounds: ScanBounds): JsonScan {
  const found: Found = { members: [], longStrings: [], values: 0, keys: 0, bareBytes: 0 };
  const { members, longStrings } = found;
  let position = skipSpace(bytes, 0);
  if (bytes[position] !== OPEN_BRACE) return { refused: "not-an-object" };
  do {
    const keyStart = skipSpace(bytes, position + 1);
    if (bytes[keyStart] !== QUOTE) {
      if (members.length > 0 || bytes[keyStart] !== CLOSE_BRACE) return { refused: "not-json" };
      position = keyStart;
      break;
    }
    if (members.length >= bounds.membersMax) return { refused: "too-many-members" };
    const keyEnd = endOfString(bytes, keyStart);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return { refused: "not-json" };
    const valueStart = skipSpace(bytes, colon + 1);
    const end = endOfValue(bytes, valueStart, bounds, found);
    if (typeof end === "string") return { refused: end };
    position = end;
    const key = readKey(bytes, keyStart, keyEnd);
    members.push({ key, keyStart, valueStart, valueEnd: trimEnd(bytes, valueStart, position) });
  } while (bytes[position] === COMMA);
  const ends = bytes[position] === CLOSE_BRACE && skipSpace(bytes, position + 1) === bytes.length;
  return ends ? { members, longStrings, innerKeys: found.keys } : { refused: "not-json" };
}

/** The positions of the elements of a list that `scanObject` has accepted, and that starts at `start`. */
export function elementsOf(bytes: Buffer, start: number): JsonString[] {
  const elements: JsonString[] = [];
  const found: Found = { members: [], longStrings: [], values: 0, keys: 0, bareBytes: 0 };
  let position = start;
  do {
    const from = skipSpace(bytes, position + 1);
    if (bytes[from] === CLOSE_BRACKET) break;
    const end = endOfValue(bytes, from, unbounded, found);
    if (typeof end === "string") throw new Error(`a list that is ${end}`);
    elements.push({ start: from, end: trimEnd(bytes, from, end) });
    position = end;
  } while (bytes[position] === COMMA);
  return elements;
}

/** For a text that has been accepted already. */
export const unbounded: ScanBounds = {
  depthMax: Number.MAX_SAFE_INTEGER,
  membersMax: Number.MAX_SAFE_INTEGER,
  valuesMax: Number.MAX_SAFE_INTEGER,
  keysMax: Number.MAX_SAFE_INTEGER,
  bareBytesMax: Number.MAX_SAFE_INTEGER,
};

interface Found {
  members: JsonMember[];
  longStrings: JsonString[];
  /** The values so far, on every level. */
  values: number;
  /** The keys of inner objects so far. */
  keys: number;
  /** The bytes so far that are neither in a string nor separate values. */
  bareBytes: number;
}

/**
 * The offset of the comma or bracket after a member's value, or the bytes' length if there is none; or the bound that
 * the value exceeds.
 */
function endOfValue(bytes: Buffer, start: number, bounds: ScanBounds, found: Found): number | BeyondBounds {
  const { depthMax, valuesMax, keysMax, bareBytesMax } = bounds;
  let depth = 1;
  let values = found.values + 1;
  let { keys, bareBytes } = found;
  let position = start;
  for (; position < bytes.length; position += 1) {
    const code = bytes[position] ?? 0;
    if (IS_STRUCTURAL[code] === 0) {
      bareBytes += 1;
      if (bareBytes > bareBytesMax) return "too-many-bytes";
    } else if (code === QUOTE) {
      const end = endOfString(bytes, position);
      if (end - position > LONG_STRING) found.longStrings.push({ start: position, end });
      position = end - 1;
    } else if (code === COMMA) {
      if (depth === 1) break;
      values += 1;
      if (values > valuesMax) return "too-many-values";
    } else if (code === COLON) {
      keys += 1;
      if (keys > keysMax) return "too-many-keys";
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > depthMax) return "too-deep";
      // The first value inside; every other one follows a comma.
      values += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) break;
    }
  }
  found.values = values;
  found.keys = keys;
  found.bareBytes = bareBytes;
  return values > valuesMax ? "too-many-values" : Math.min(position, bytes.length);
}
