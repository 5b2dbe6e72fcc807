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

/** The position of a string, including its quotes. */
export interface JsonString {
  start: number;
  end: number;
}

export type JsonScan =
  | { members: JsonMember[]; longStrings: readonly JsonString[] }
  | { refused: "too-deep" | "not-an-object" | "not-json" };

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
 * Finds the members of the outermost object, and long strings, and refuses more than `depthMax` levels of brackets. A
 * refusal as `not-json` is certain; an accepted text may still be invalid in its values.
 */
export function scanObject(bytes: Buffer, depthMax: number): JsonScan {
  const members: JsonMember[] = [];
  const longStrings: JsonString[] = [];
  let position = skipSpace(bytes, 0);
  if (bytes[position] !== OPEN_BRACE) return { refused: "not-an-object" };
  do {
    const keyStart = skipSpace(bytes, position + 1);
    if (bytes[keyStart] !== QUOTE) {
      if (members.length > 0 || bytes[keyStart] !== CLOSE_BRACE) return { refused: "not-json" };
      position = keyStart;
      break;
    }
    const keyEnd = endOfString(bytes, keyStart);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return { refused: "not-json" };
    const valueStart = skipSpace(bytes, colon + 1);
    position = endOfValue(bytes, valueStart, depthMax, longStrings);
    if (position === -1) return { refused: "too-deep" };
    const key = readKey(bytes, keyStart, keyEnd);
    members.push({ key, keyStart, valueStart, valueEnd: trimEnd(bytes, valueStart, position) });
  } while (bytes[position] === COMMA);
  const ends = bytes[position] === CLOSE_BRACE && skipSpace(bytes, position + 1) === bytes.length;
  return ends ? { members, longStrings } : { refused: "not-json" };
}

/**
 * The offset of the comma or bracket after a member's value; the bytes' length if there is none, -1 if it is nested too
 * deeply.
 */
function endOfValue(bytes: Buffer, start: number, depthMax: number, longStrings: JsonString[]): number {
  let depth = 1;
  for (let position = start; position < bytes.length; position += 1) {
    const code = bytes[position];
    if (code === QUOTE) {
      const end = endOfString(bytes, position);
      if (end - position > LONG_STRING) longStrings.push({ start: position, end });
      position = end - 1;
    } else if (code === COMMA) {
      if (depth === 1) return position;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > depthMax) return -1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return position;
    }
  }
  return bytes.length;
}

/** Up to this many members, comparing each with the previous ones is faster than a set. */
const FEW_MEMBERS = 8;

/** The first duplicate key. `JSON.parse` takes the last one, an upstream may take the first. */
export function duplicateKey(members: readonly JsonMember[]): string | undefined {
  if (members.length > FEW_MEMBERS) return duplicateAmongMany(members);
  for (let at = 1; at < members.length; at += 1) {
    const key = members[at]?.key;
    for (let before = 0; before < at; before += 1) if (members[before]?.key === key) return key;
  }
  return undefined;
}

function duplicateAmongMany(members: readonly JsonMember[]): string | undefined {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}
