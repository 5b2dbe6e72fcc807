import { type RandomBytes, randomId } from "../../core/index.ts";
import type { FormPart } from "./form-part.ts";
import type { Segment } from "./outgoing-form.ts";

/** A part of a new form. A file keeps its name and type. */
export type ComposedField = { name: string; text: string } | { name: string; file: FormPart };

/** 129 random bits: no content contains it, neither by chance nor by intent. */
export function newBoundary(randomBytes: RandomBytes): string {
  return `tollgate-${randomId(randomBytes, 25)}`;
}

export function composedSegments(
  boundary: string,
  fields: readonly ComposedField[],
  contentOf: (part: FormPart) => Segment,
): Segment[] {
  const segments = fields.flatMap((field) => [
    Buffer.from(`--${boundary}\r\n${headerOf(field)}\r\n\r\n`),
    "text" in field ? Buffer.from(field.text) : contentOf(field.file),
    Buffer.from("\r\n"),
  ]);
  return [...segments, Buffer.from(`--${boundary}--\r\n`)];
}

function headerOf(field: ComposedField): string {
  const disposition = `Content-Disposition: form-data; name=${quoted(field.name)}`;
  if ("text" in field) return disposition;
  const { filename = field.name, contentType = "application/octet-stream" } = field.file;
  return `${disposition}; filename=${quoted(filename)}\r\nContent-Type: ${contentType}`;
}

/** The same escapes as in browsers. */
function quoted(text: string): string {
  return `"${text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")}"`;
}
