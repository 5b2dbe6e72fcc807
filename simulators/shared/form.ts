import type { Check } from "./check.ts";
import { isObject, type JsonObject, parseJson } from "./json.ts";
import type { FormPart } from "./multipart.ts";

/** The meaning of a form field's text. `files` accepts one or several, `json` also `name[member]`. */
export type FieldKind = "text" | "number" | "flag" | "list" | "json" | "file" | "files";

/** True for a part of a form that came as a file. */
export function isFile(value: unknown): value is FormPart {
  return isObject(value) && value["bytes"] instanceof Uint8Array && typeof value["filename"] === "string";
}

export const isFileField: Check = (value) => (isFile(value) ? null : "a file");

/** One file or several; the check of `files`. */
export const isFileList: Check = (value) => {
  return Array.isArray(value) && value.length > 0 && value.every(isFile) ? null : "one or several files";
};

/**
 * The fields of a form as a JSON body, so that both are checked alike. A value that does not fit its kind stays
 * unchanged, for the check to refuse.
 */
export function formBody(parts: readonly FormPart[], kinds: { readonly [name: string]: FieldKind }): JsonObject {
  const body: { [name: string]: unknown } = {};
  for (const part of parts) {
    const [, base = "", member] = /^([^[\]]+)(?:\[(\w*)\])?$/.exec(part.name) ?? [];
    const kind = Object.hasOwn(kinds, base) ? kinds[base] : undefined;
    const value = part.filename === null ? textOf(part) : part;
    if (kind === "list" || kind === "files") body[base] = [...listAt(body[base]), value];
    else if (kind === "json" && member) body[base] = { ...objectAt(body[base]), [member]: valueOf(value, "json") };
    else if (member === undefined) body[part.name] = valueOf(value, kind);
    else body[part.name] = value;
  }
  return body;
}

function textOf(part: FormPart): string {
  return Buffer.from(part.bytes).toString("utf8");
}

function valueOf(value: unknown, kind: FieldKind | undefined): unknown {
  if (typeof value !== "string") return value;
  if (kind === "number" && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
  if (kind === "flag" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return kind === "json" ? (parseJson(value) ?? value) : value;
}

function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectAt(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
