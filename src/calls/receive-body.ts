/** Reads and validates a call's body: JSON, or a form with files. */
import { measureSound } from "../audio/index.ts";
import {
  type BodyLimits,
  type BodySource,
  type FormPart,
  isForm,
  readForm,
  type ReceivedForm,
  checkBody,
  parseBody,
  type ParsedBody,
} from "../bodies/index.ts";
import { type CallFile, GatewayError } from "../core/index.ts";
import type { ChargeableBody, ChargeableRoute, FormDeclaration } from "./chargeable-route.ts";
import type { IncomingCall } from "./incoming-call.ts";

/** A form, as the pipeline needs it. It stays open until the call has ended. */
export interface FormBody<Body> {
  kind: "form";
  form: ReceivedForm;
  /** The values of its fields. */
  body: Body;
  files: readonly CallFile[];
  /** The position of a file in the form. */
  partOf(file: CallFile): FormPart;
}

export type CallBody<Body> = ParsedBody<Body> | FormBody<Body>;

/** The form declared by the route if the request contains one; undefined for JSON. */
export function formOf<Body extends ChargeableBody>(
  { form, body }: ChargeableRoute<Body>,
  { headers }: IncomingCall,
): FormDeclaration<Body> | undefined {
  return form !== undefined && (body === undefined || isForm(headers)) ? form : undefined;
}

/** The source of the call's body. */
export function sourceOf({ body, headers }: IncomingCall): BodySource {
  return body instanceof Uint8Array ? new Response(Uint8Array.from(body), { headers }) : body;
}

/** Reads JSON and validates it. Throws 422 naming the field, or for an unsupported content type. */
export function readJson<Body extends ChargeableBody>(
  { body, codec, operations }: ChargeableRoute<Body>,
  received: Uint8Array,
): ParsedBody<Body> {
  if (body === undefined) throw new Error(`the route of ${operations[0]} takes no body`);
  return parseBody(received, body, codec.measured);
}

/** Receives a form and validates it. Throws as `readForm` does, and 422 naming the field or the part. */
export async function receiveForm<Body>(
  source: BodySource,
  declared: FormDeclaration<Body>,
  limits: BodyLimits,
): Promise<FormBody<Body>> {
  const form = await readForm(source, limits);
  try {
    const files = new Map<CallFile, FormPart>();
    for (const part of form.parts) {
      if (part.filename !== undefined) files.set(await fileOf(form, part, part.filename, declared.sound), part);
    }
    const all = [...files.keys()];
    if (!all.some(({ field }) => field === declared.file)) throw missing(declared.file);
    const body = checkBody(fieldsOf(form), declared.body);
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

/** Lists are sent as `name[]`. */
function baseName(name: string): string {
  return name.endsWith("[]") ? name.slice(0, -2) : name;
}

function missing(field: string): GatewayError {
  return new GatewayError("validation_failed", `${field}: the form has no such file`, { param: field });
}
