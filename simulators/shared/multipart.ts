import { createHash } from "node:crypto";

/** One part of a `multipart/form-data` body. */
export interface FormPart {
  readonly name: string;
  /** Null for a plain field. */
  readonly filename: string | null;
  readonly contentType: string | null;
  /** A view of the request's own bytes. */
  readonly bytes: Uint8Array;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

const lineEnd = "\r\n";
const headEnd = "\r\n\r\n";

/** True for the content type of an HTML form with files. */
export function isFormType(contentType: string | undefined): boolean {
  return /^multipart\/form-data\b/i.test(contentType ?? "");
}

/** Reads a form strictly: null if there is no boundary, a part has no name, or the last boundary is missing. */
export function parseForm(contentType: string, body: Buffer): readonly FormPart[] | null {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return null;
  const delimiter = `--${boundary}`;
  const parts: FormPart[] = [];
  let start = body.indexOf(delimiter);
  if (start !== 0) return null;
  for (;;) {
    start += delimiter.length;
    const follows = body.toString("latin1", start, start + 2);
    if (follows === "--") return parts;
    const end = body.indexOf(lineEnd + delimiter, start);
    const part = follows === lineEnd && end >= 0 ? parsePart(body.subarray(start + 2, end)) : null;
    if (part === null) return null;
    parts.push(part);
    start = end + lineEnd.length;
  }
}

function parsePart(part: Buffer): FormPart | null {
  const split = part.indexOf(headEnd);
  if (split < 0) return null;
  const head = part.toString("utf8", 0, split);
  const disposition = headerOf(head, "content-disposition") ?? "";
  const name = parameterOf(disposition, "name");
  if (!/^form-data\b/i.test(disposition) || name === null) return null;
  const bytes = part.subarray(split + headEnd.length);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const contentType = headerOf(head, "content-type");
  return { name, filename: parameterOf(disposition, "filename"), contentType, bytes, sha256 };
}

function headerOf(head: string, name: string): string | null {
  const line = head.split(lineEnd).find((one) => one.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

function parameterOf(header: string, name: string): string | null {
  const [, value] = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(header) ?? [];
  return value === undefined ? null : value.replaceAll(/\\(.)/g, "$1");
}
