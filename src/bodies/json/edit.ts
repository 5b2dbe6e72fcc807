/** Edits of a JSON object's own members in its bytes. Members without an edit keep their bytes. */
import type { FactName } from "../../core/index.ts";
import { elementsOf, type JsonMember, scanObject, unbounded } from "./scan.ts";

/**
 * A change of one member: `value` is JSON text; a missing member is added at the end. `fact`: its reason, if that is a
 * limit of the model.
 */
export type JsonEdit = ({ set: string; value: string } | { remove: string } | { rename: string; to: string }) & {
  fact?: FactName;
};

const CLOSE_BRACE = 0x7d;
const START = Buffer.from("{");
const SEPARATOR = Buffer.from(",");
const END = Buffer.from("}");

interface Splice {
  start: number;
  end: number;
  text: string;
}

/**
 * Applies the edits to an object scanned by `scanObject`. Members without an edit keep their bytes. The result is the
 * pieces of the new text; those of a large body are views of `bytes`, which is never copied. `bytes` stay unchanged for
 * another upstream with other edits.
 */
export function editBytes(
  bytes: Buffer,
  members: readonly JsonMember[],
  edits: readonly JsonEdit[],
): readonly Uint8Array[] {
  const removed = removedKeys(members, edits);
  if (removed !== undefined) {
    const rest = withoutRemoved(bytes, members, removed);
    return editBytes(
      rest.bytes,
      rest.members,
      edits.filter((edit) => !("remove" in edit)),
    );
  }
  const splices = splicesOf(bytes, members, edits);
  if (splices.length === 0) return [bytes];
  return bytes.length <= COPIED_BYTES_MAX ? [copied(bytes, splices)] : piecesOf(bytes, splices);
}

/** Copying this many bytes costs less than creating views. */
const COPIED_BYTES_MAX = 16 * 1024;

function copied(bytes: Buffer, splices: readonly Splice[]): Buffer {
  let length = bytes.length;
  for (const { start, end, text } of splices) length += Buffer.byteLength(text) - (end - start);
  const edited = Buffer.allocUnsafe(length);
  let position = 0;
  let at = 0;
  for (const { start, end, text } of splices) {
    at += bytes.copy(edited, at, position, start);
    at += edited.write(text, at);
    position = end;
  }
  bytes.copy(edited, at, position);
  return edited;
}

function piecesOf(bytes: Buffer, splices: readonly Splice[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, text } of splices) {
    pieces.push(bytes.subarray(position, start), Buffer.from(text));
    position = end;
  }
  pieces.push(bytes.subarray(position));
  return pieces;
}

function removedKeys(members: readonly JsonMember[], edits: readonly JsonEdit[]): ReadonlySet<string> | undefined {
  let removed: Set<string> | undefined;
  for (const edit of edits) {
    if ("remove" in edit && find(members, edit.remove) !== undefined) (removed ??= new Set()).add(edit.remove);
  }
  return removed;
}

function find(members: readonly JsonMember[], key: string): JsonMember | undefined {
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

/** The replaced ranges in order; additions come before the last brace. */
function splicesOf(bytes: Buffer, members: readonly JsonMember[], edits: readonly JsonEdit[]): Splice[] {
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
    const brace = bytes.lastIndexOf(CLOSE_BRACE);
    splices.push({ start: brace, end: brace, text: `${members.length > 0 ? "," : ""}${added}` });
  }
  return splices;
}

function spliceOf(member: JsonMember, edit: Exclude<JsonEdit, { remove: string }>): Splice {
  if ("set" in edit) return { start: member.valueStart, end: member.valueEnd, text: edit.value };
  return { start: member.keyStart, end: member.valueStart, text: `${JSON.stringify(edit.to)}:` };
}

/** Merges neighbouring ranges, which would otherwise overlap in their commas. */
function withoutRemoved(
  bytes: Buffer,
  members: readonly JsonMember[],
  removed: ReadonlySet<string>,
): { bytes: Buffer; members: JsonMember[] } {
  const pieces: Buffer[] = [];
  const kept: JsonMember[] = [];
  let position = 0;
  for (const { key, keyStart, valueStart, valueEnd } of members) {
    if (removed.has(key)) continue;
    pieces.push(kept.length === 0 ? START : SEPARATOR, bytes.subarray(keyStart, valueEnd));
    const moved = position + 1 - keyStart;
    position = valueEnd + moved;
    kept.push({ key, keyStart: keyStart + moved, valueStart: valueStart + moved, valueEnd: position });
  }
  if (kept.length === 0) pieces.push(START);
  return { bytes: Buffer.concat([...pieces, END]), members: kept };
}

/** The JSON texts of a list's elements, as they are in the bytes. */
export function elementTexts(bytes: Buffer, { valueStart }: Pick<JsonMember, "valueStart">): string[] {
  return elementsOf(bytes, valueStart).map(({ start, end }) => bytes.toString("utf8", start, end));
}

/** The text of an object with one member set, which it may have had several times, and without these others. */
export function withMember(text: string, key: string, value: string, removed: readonly string[] = []): string {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, unbounded);
  if ("refused" in scan) throw new Error(`a text that is ${scan.refused}`);
  const edits = [...[key, ...removed].map((name) => ({ remove: name })), { set: key, value }];
  return Buffer.concat(editBytes(bytes, scan.members, edits)).toString();
}
