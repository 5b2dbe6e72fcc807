/**
 * Edits of a JSON object's own members in its text, so that everything a call does not have to touch reaches the
 * upstream byte for byte: number spellings, key order, white space, fields that nobody here knows.
 *
 * The scan is one pass over the text that jumps from quote to quote inside strings. It trusts `JSON.parse` for validity
 * and only finds where the members of the outermost object begin and end; it also bounds the nesting, before any
 * recursive code sees the text.
 */

/** One member of the outermost object: `text.slice(valueStart, valueEnd)` is its value. */
export interface JsonMember {
  key: string;
  keyStart: number;
  valueStart: number;
  valueEnd: number;
}

/** Where a string stands, its quotes included. */
export interface JsonString {
  start: number;
  end: number;
}

export type JsonScan =
  | { members: JsonMember[]; longStrings: readonly JsonString[] }
  | { refused: "too-deep" | "not-an-object" };

/** Characters from which a string is a long one. */
const LONG_STRING = 512;

const NONE: readonly JsonString[] = [];

/** A change of one member: `value` is JSON text; a missing member is added at the end. */
export type JsonEdit = { set: string; value: string } | { remove: string } | { rename: string; to: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Index just behind the string that opens at `start`, or the text's length where it never closes. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function skipSpace(text: string, start: number): number {
  let position = start;
  while (isSpace(text.charCodeAt(position))) position += 1;
  return position;
}

/** Index just behind the last character of `text.slice(start, end)` that is no white space. */
function trimEnd(text: string, start: number, end: number): number {
  let position = end;
  while (position > start && isSpace(text.charCodeAt(position - 1))) position -= 1;
  return position;
}

/** The key as JSON means it: `"mod\u0065l"` is `model`, and must not slip past an edit of it. */
function decodeKey(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

/** Finds the members of the outermost object, and long strings, refusing more than `depthMax` levels of brackets. */
export function scanObject(text: string, depthMax: number): JsonScan {
  const members: JsonMember[] = [];
  let longStrings: JsonString[] | undefined;
  let position = skipSpace(text, 0);
  if (text.charCodeAt(position) !== OPEN_BRACE) return { refused: "not-an-object" };
  let depth = 0;
  let keyStart = -1;
  let keyEnd = -1;
  let valueStart = -1;
  const close = (end: number): void => {
    if (valueStart === -1) return;
    const key = decodeKey(text.slice(keyStart, keyEnd));
    members.push({ key, keyStart, valueStart, valueEnd: trimEnd(text, valueStart, end) });
    keyStart = -1;
    valueStart = -1;
  };
  for (; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      const end = endOfString(text, position);
      if (depth === 1 && valueStart === -1) [keyStart, keyEnd] = [position, end];
      else if (end - position > LONG_STRING) (longStrings ??= []).push({ start: position, end });
      position = end - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > depthMax) return { refused: "too-deep" };
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 1) close(position);
      depth -= 1;
    } else if (depth === 1 && code === COLON && valueStart === -1) {
      valueStart = skipSpace(text, position + 1);
      position = valueStart - 1;
    } else if (depth === 1 && code === COMMA) {
      close(position);
    }
  }
  return { members, longStrings: longStrings ?? NONE };
}

/** The first key that occurs twice. `JSON.parse` takes the last one, an upstream may take the first. */
export function duplicateKey(members: readonly JsonMember[]): string | undefined {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

interface Splice {
  start: number;
  end: number;
  text: string;
}

/**
 * Applies the edits to the text of an object whose members `scanObject` found. Members without an edit keep their bytes.
 * Several removals are done by joining what stays, since neighbours' commas would overlap.
 */
export function editObject(text: string, members: readonly JsonMember[], edits: readonly JsonEdit[]): string {
  const removed = removedKeys(members, edits);
  if (removed !== undefined) {
    const joined = withoutRemoved(text, members, removed);
    const scan = scanObject(joined, Number.POSITIVE_INFINITY);
    const rest = edits.filter((edit) => !("remove" in edit));
    return "members" in scan ? editObject(joined, scan.members, rest) : joined;
  }
  let edited = "";
  let position = 0;
  for (const splice of splicesOf(text, members, edits)) {
    edited += text.slice(position, splice.start) + splice.text;
    position = splice.end;
  }
  return edited + text.slice(position);
}

/**
 * The same on an object's bytes, of which `text` is the Latin-1 reading: an index into it is an offset into them. Where
 * one member becomes shorter, the bytes beside it move and the rest stays where it is: `bytes` is used up.
 */
export function editBytes(
  bytes: Buffer,
  text: string,
  members: readonly JsonMember[],
  edits: readonly JsonEdit[],
): Uint8Array {
  if (removedKeys(members, edits) !== undefined) return Buffer.from(editObject(text, members, edits), "latin1");
  const splices = splicesOf(text, members, edits);
  const [only] = splices;
  if (splices.length === 1 && only !== undefined && only.text.length <= only.end - only.start) {
    return shorten(bytes, only);
  }
  const pieces: Uint8Array[] = [];
  let position = 0;
  for (const splice of splices) {
    pieces.push(bytes.subarray(position, splice.start), Buffer.from(splice.text, "latin1"));
    position = splice.end;
  }
  return Buffer.concat([...pieces, bytes.subarray(position)]);
}

/** Moves the shorter side towards the longer one. */
function shorten(bytes: Buffer, { start, end, text }: Splice): Uint8Array {
  const gap = end - start - text.length;
  if (start < bytes.length - end) {
    bytes.copyWithin(gap, 0, start);
    bytes.write(text, start + gap, "latin1");
    return bytes.subarray(gap);
  }
  bytes.write(text, start, "latin1");
  bytes.copyWithin(start + text.length, end);
  return bytes.subarray(0, bytes.length - gap);
}

/** A text as its UTF-8 bytes, one character each: what it has to be to stand in a Latin-1 reading. */
export function bytewise(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** The text that `bytewise` was made from. */
export function fromBytewise(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "latin1").toString("utf8");
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function removedKeys(members: readonly JsonMember[], edits: readonly JsonEdit[]): ReadonlySet<string> | undefined {
  const removed = new Set<string>();
  for (const edit of edits) if ("remove" in edit && find(members, edit.remove) !== undefined) removed.add(edit.remove);
  return removed.size === 0 ? undefined : removed;
}

function find(members: readonly JsonMember[], key: string): JsonMember | undefined {
  return members.find((member) => member.key === key);
}

/** What changes where, in order; what is added comes before the last brace. */
function splicesOf(text: string, members: readonly JsonMember[], edits: readonly JsonEdit[]): Splice[] {
  const splices: Splice[] = [];
  let added = "";
  for (const edit of edits) {
    if ("remove" in edit) continue;
    const member = find(members, "set" in edit ? edit.set : edit.rename);
    if (member !== undefined) splices.push(spliceOf(member, edit));
    else if ("set" in edit) added += `${added === "" ? "" : ","}${JSON.stringify(edit.set)}:${edit.value}`;
  }
  if (splices.length > 1) splices.sort((a, b) => a.start - b.start);
  if (added !== "") {
    const brace = text.lastIndexOf("}");
    splices.push({ start: brace, end: brace, text: `${members.length > 0 ? "," : ""}${added}` });
  }
  return splices;
}

function spliceOf(member: JsonMember, edit: Exclude<JsonEdit, { remove: string }>): Splice {
  if ("set" in edit) return { start: member.valueStart, end: member.valueEnd, text: edit.value };
  return { start: member.keyStart, end: member.valueStart, text: `${JSON.stringify(edit.to)}:` };
}

function withoutRemoved(text: string, members: readonly JsonMember[], removed: ReadonlySet<string>): string {
  const kept = members.filter((member) => !removed.has(member.key));
  return `{${kept.map((member) => text.slice(member.keyStart, member.valueEnd)).join(",")}}`;
}
