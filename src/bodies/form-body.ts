/** Receives a form with files, and checks its fields. */
import type { z } from "zod";
import { measureSound } from "../audio/index.ts";
import { type CallFile, GatewayError } from "../core/index.ts";
import type { BodyLimits } from "./arrival.ts";
import { type BodySource, inflated } from "./body-source.ts";
import { type FormPart, readForm, type ReceivedForm } from "./forms/index.ts";
import { checkBody, type ModelOf, type ParsedBody } from "./json/parse-body.ts";

/** The requirements for a multipart/form-data body. */
export interface FormDeclaration<Body> {
  /** The schema of its fields: text, or a list of texts for a repeated name. */
  body: z.ZodType<Body>;
  /** The required file; absent if a form needs none. */
  file?: string;
  /** Whether its files are audio, whose duration must be measured. */
  sound: boolean;
}

/** A form, with its fields and files. It stays open until its last use. */
export interface FormBody<Body> {
  kind: "form";
  form: ReceivedForm;
  /** The values of its fields. */
  body: Body;
  files: readonly CallFile[];
  /** The position of a file in the form. */
  partOf(file: CallFile): FormPart;
}

/** A body in either form. */
export type ReceivedBody<Body> = ParsedBody<Body> | FormBody<Body>;

/**
 * Receives a form and validates it, with the model that `modelOf` finds. Throws as `readForm` does, and 422 naming the field or the
 * part.
 */
export async function receiveForm<Body>(
  source: BodySource,
  declared: FormDeclaration<Body>,
  limits: BodyLimits,
  modelOf?: ModelOf,
): Promise<FormBody<Body>> {
  const form = await readForm(inflated(source), limits);
  try {
    const files = new Map<CallFile, FormPart>();
    for (const part of form.parts) {
      if (part.filename !== undefined) files.set(await fileOf(form, part, part.filename, declared.sound), part);
    }
    const all = [...files.keys()];
    const { file: required } = declared;
    if (required !== undefined && !all.some(({ field }) => field === required)) throw missing(required);
    const body = checkBody(withModel(fieldsOf(form), modelOf), declared.body);
    const partOf = (file: CallFile): FormPart => {
      const part = files.get(file);
      if (part === undefined) throw new Error(`the file ${file.field} is not of this form`);
      return part;
    };
    return { kind: "form", form, body, files: all, partOf };
  } catch (thrown) {
    await form.close();
    throw thrown;
  }
}

async function fileOf(form: ReceivedForm, part: FormPart, filename: string, sound: boolean): Promise<CallFile> {
  const { contentType, size } = part;
  const milliseconds = sound ? await measureSound(form.stream(part), { size }) : undefined;
  return { field: baseName(part.name), filename, contentType, size, milliseconds, read: () => form.read(part) };
}

/** The fields that are not files: text each, or a list for a repeated name. */
function fieldsOf({ parts }: ReceivedForm): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  for (const { name, text } of parts) {
    if (text === undefined) continue;
    const field = baseName(name);
    const before = fields.get(field);
    if (before === undefined) fields.set(field, name === field ? text : [text]);
    else fields.set(field, [before, text].flat());
  }
  return Object.fromEntries(fields);
}

function withModel(
  fields: Record<string, string | string[]>,
  modelOf: ModelOf | undefined,
): Record<string, string | string[]> {
  if (modelOf === undefined) return fields;
  const { model: inForm } = fields;
  const model = modelOf(typeof inForm === "string" ? inForm : undefined);
  return model === undefined ? fields : { ...fields, model };
}

/** Lists are sent as `name[]`. */
function baseName(name: string): string {
  return name.endsWith("[]") ? name.slice(0, -2) : name;
}

function missing(field: string): GatewayError {
  return new GatewayError("validation_failed", `${field}: the form has no such file`, { param: field });
}
