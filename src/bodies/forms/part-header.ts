/**
 * The headers of one part. Anything that another reader of forms could understand differently is refused, not guessed:
 * the gateway routes and charges by its own reading, and the upstream reads the same bytes again.
 */
import { utf8FromLatin1 } from "../json/latin1.ts";
import { type ParameterizedValue, parseParameters, trimBlanks } from "./parameters.ts";
import { invalidForm, invalidPart } from "./refusals.ts";

export interface PartHeader {
  readonly name: string;
  /** Present if the part is a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** The part's declared length, and its position in the headers. */
  readonly declared: { readonly size: number; readonly start: number; readonly end: number } | undefined;
}

interface Field {
  readonly value: string;
  /** Index of the value in the block. */
  readonly start: number;
}

const once = new Set(["content-disposition", "content-type", "content-length", "content-transfer-encoding"]);
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- the search needs them
const control = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * Parses the lines of a header, one character per byte. `index` is the part's index, used in errors until its name is
 * known.
 */
export function parsePartHeader(block: string, index: number): PartHeader {
  const refuse = (what: string): Error => invalidForm(`Part ${index + 1} of the form ${what}.`, `parts.${index}`);
  const fields = new Map<string, Field>();
  let start = 0;
  for (const line of block === "" ? [] : block.split("\r\n")) {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(colon, 0)).toLowerCase();
    // A folded line begins with a blank, which a name cannot contain.
    if (control.test(line) || !fieldName.test(key)) throw refuse("has a malformed header");
    if (fields.has(key) && once.has(key)) throw refuse(`has the header ${key} twice`);
    fields.set(key, fieldAt(line, colon + 1, start));
    start += line.length + 2;
  }
  const disposition = fields.get("content-disposition");
  if (disposition === undefined) throw refuse("has no Content-Disposition");
  const parsed = parseParameters(disposition.value);
  if (parsed?.value !== "form-data") throw refuse("has a malformed Content-Disposition");
  const name = nameIn(parsed);
  if (name === undefined) throw refuse("has no name, or one that could be read in several ways");
  return checked(name, parsed, fields);
}

function fieldAt(line: string, offset: number, lineStart: number): Field {
  const rest = line.slice(offset);
  const value = trimBlanks(rest);
  return { value, start: lineStart + offset + rest.indexOf(value) };
}

function nameIn({ parameters }: ParameterizedValue): string | undefined {
  const written = parameters.get("name") ?? "";
  const extended = [...parameters.keys()].some((key) => key.includes("*") && key !== "filename*");
  // A backslash is an escape for some readers, =? an encoded word, and a trailing blank is trimmed.
  if (extended || written.includes("\\") || written.includes("=?")) return undefined;
  const name = unescapeName(utf8FromLatin1(written));
  return name === "" || name.trim() !== name ? undefined : name;
}

function checked(name: string, parsed: ParameterizedValue, fields: ReadonlyMap<string, Field>): PartHeader {
  const encoding = fields.get("content-transfer-encoding")?.value.toLowerCase() ?? "binary";
  if (!["7bit", "8bit", "binary"].includes(encoding)) {
    throw invalidPart(name, "has a Content-Transfer-Encoding other than 7bit, 8bit and binary.");
  }
  const filename = filenameIn(name, parsed);
  const type = fields.get("content-type")?.value;
  if (filename === undefined) checkTextType(name, type);
  const contentType = type === undefined ? undefined : utf8FromLatin1(type);
  return { name, filename, contentType, declared: declaredSize(name, fields.get("content-length")) };
}

function filenameIn(name: string, { parameters }: ParameterizedValue): string | undefined {
  const written = parameters.get("filename");
  const extended = parameters.get("filename*");
  if (written === undefined) {
    if (extended === undefined) return undefined;
    // Half of the readers take it for a field then.
    throw invalidPart(name, "has a filename* but no filename.");
  }
  if (extended === undefined) return unescapeName(utf8FromLatin1(written).replaceAll(/\\(["\\])/g, "$1"));
  const decoded = decodeExtended(extended);
  if (decoded === undefined) throw invalidPart(name, "has a malformed filename*.");
  return decoded;
}

/** Browsers encode quotes and line breaks like this, and no other percent sign. */
function unescapeName(text: string): string {
  return text.replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%22", '"');
}

/** `utf-8'en'%e2%82%ac`, by RFC 8187. */
function decodeExtended(text: string): string | undefined {
  const [charset, , encoded, more] = text.split("'");
  if (charset?.toLowerCase() !== "utf-8" || encoded === undefined || more !== undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** A text that some readers would decode with another character set, or take for a file. */
function checkTextType(name: string, contentType: string | undefined): void {
  if (contentType === undefined) return;
  const parsed = parseParameters(contentType);
  const charset = parsed?.parameters.get("charset")?.toLowerCase() ?? "utf-8";
  if (parsed === undefined || !["utf-8", "us-ascii"].includes(charset)) {
    throw invalidPart(name, "has a malformed content type, or a charset other than utf-8.");
  }
  if (parsed.value === "application/octet-stream") {
    throw invalidPart(name, "has the content type of a file but no filename.");
  }
}

function declaredSize(name: string, field: Field | undefined): PartHeader["declared"] {
  if (field === undefined) return undefined;
  if (!/^\d{1,15}$/.test(field.value)) throw invalidPart(name, "has a malformed Content-Length.");
  return { size: Number(field.value), start: field.start, end: field.start + field.value.length };
}
