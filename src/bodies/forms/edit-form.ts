import type { FormPart, FormSource, PlacedPart } from "./form-part.ts";
import type { Segment } from "./outgoing-form.ts";
import { invalidPart } from "./refusals.ts";

/** A new text for a part, the removal of a part, or a new part before all others. */
export type FormEdit = { part: FormPart; text: string } | { remove: FormPart } | { add: string; text: string };

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** The body with the edits applied; of two edits of one part, the last one counts. */
export function editedSegments(source: FormSource, edits: readonly FormEdit[]): Segment[] {
  const byPart = new Map(
    edits.flatMap((edit) => ("add" in edit ? [] : [["part" in edit ? edit.part : edit.remove, edit]])),
  );
  const segments: Segment[] = [];
  let done = 0;
  const beginning = source.placed[0]?.scanned.start ?? 0;
  for (const edit of edits) {
    if (!("add" in edit)) continue;
    segments.push({ start: done, end: beginning }, added(edit, source.boundary));
    done = beginning;
  }
  for (const [index, placed] of source.placed.entries()) {
    const edit = byPart.get(placed.part);
    if (edit === undefined) continue;
    byPart.delete(placed.part);
    for (const { start, end, bytes } of "part" in edit
      ? replace(placed, edit.text, source.boundary)
      : [removal(placed, source.placed[index + 1])]) {
      segments.push({ start: done, end: start }, bytes);
      done = end;
    }
  }
  if (byPart.size > 0) throw new Error("an edit is of a part of another form");
  segments.push({ start: done, end: source.spool.size });
  return segments;
}

/** With its delimiter. */
function added({ add: name, text }: { add: string; text: string }, boundary: string): Buffer {
  refuseBoundary(name, text, boundary);
  return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`);
}

/** The tail of a client's text may begin a part once its head is removed. */
function refuseBoundary(name: string, text: string, boundary: string): void {
  if (text.includes(`--${boundary}`)) throw invalidPart(name, "would hold the boundary.");
}

/** From its delimiter to the next one; the line break before it stays. */
function removal({ scanned }: PlacedPart, next: PlacedPart | undefined): Splice {
  const end = next?.scanned.start ?? scanned.contentEnd + "\r\n".length;
  return { start: scanned.start, end, bytes: Buffer.alloc(0) };
}

function replace({ part, scanned }: PlacedPart, text: string, boundary: string): Splice[] {
  refuseBoundary(part.name, text, boundary);
  const bytes = Buffer.from(text);
  const content = { start: scanned.contentStart, end: scanned.contentEnd, bytes };
  if (scanned.declared === undefined) return [content];
  const { start, end } = scanned.declared;
  const size = Buffer.from(String(bytes.length));
  return [{ start: scanned.headerStart + start, end: scanned.headerStart + end, bytes: size }, content];
}
