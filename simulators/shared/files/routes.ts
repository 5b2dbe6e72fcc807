import { badValue, type Problem } from "../check.ts";
import { isFile } from "../form.ts";
import { bearerKey } from "../http.ts";
import type { JsonObject } from "../json.ts";
import type { FormPart } from "../multipart.ts";
import {
  type Answer,
  type Call,
  errorAnswer,
  type ErrorAnswer,
  jsonAnswer,
  type ProviderErrors,
  type Route,
} from "../types.ts";
import type { StoredFile } from "./stored-files.ts";

/** A file to be stored: the provider's description of it, without `id`, `object` and the time. */
export interface NewFile {
  readonly body: JsonObject;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** How one provider stores files. */
export interface FilesWire {
  readonly errors: ProviderErrors;
  /** Whether there is a route for the bytes. */
  readonly hasContent: boolean;
  /** The `object` of a list. */
  readonly listObject: "list" | "file";
  readonly purposes: readonly string[];
  readonly limitDefault: number;
  readonly limitMax: number;
  notFound(id: string): ErrorAnswer;
  formRefusal(): ErrorAnswer;
  /** Reads an upload. `now` in seconds since the epoch. */
  create(fields: Fields, now: number): NewFile | Problem;
  /** A file as a request finds it later. */
  later?(file: StoredFile, call: Call): JsonObject;
  /** Why the bytes of a file are not given out; null if they are. */
  refuseContent?(file: StoredFile): ErrorAnswer | null;
}

/** The fields of an upload. */
export class Fields {
  readonly #form: readonly FormPart[];

  constructor(form: readonly FormPart[]) {
    this.#form = form;
  }

  get names(): readonly string[] {
    return this.#form.map(({ name }) => name);
  }

  file(name: string): FormPart | undefined {
    return this.#form.find((part) => part.name === name && isFile(part));
  }

  text(name: string): string | undefined {
    const part = this.#form.find((one) => one.name === name && one.filename === null);
    return part && Buffer.from(part.bytes).toString("utf8");
  }
}

/** The routes of one provider's files. */
export function fileRoutes(basePath: string, wire: FilesWire): Route[] {
  const path = `${basePath}/files`;
  const one = `${path}/:id`;
  const withFile = (handle: (call: Call, file: StoredFile) => Answer) => (call: Call) => {
    const id = call.parameters["id"] ?? "";
    const file = call.kept.files.get(accountOf(call), id);
    return file === undefined ? errorAnswer(wire.notFound(id)) : handle(call, file);
  };
  const routes: Route[] = [
    { method: "POST", path, handle: (call) => upload(call, wire) },
    { method: "GET", path, handle: (call) => list(call, wire) },
    { method: "GET", path: one, handle: withFile((call, file) => jsonAnswer(wire.later?.(file, call) ?? file.body)) },
    { method: "DELETE", path: one, handle: withFile(remove) },
  ];
  if (!wire.hasContent) return routes;
  const content = withFile((call, file) => {
    const refused = wire.refuseContent?.(file) ?? null;
    return refused === null ? bytesOf(call, file) : errorAnswer(refused);
  });
  return [...routes, { method: "GET", path: `${one}/content`, handle: content }];
}

/** The key without its faults. */
function accountOf({ headers }: Call): string {
  return bearerKey(headers)?.split("+", 1)[0] ?? "";
}

function upload(call: Call, wire: FilesWire): Answer {
  if (call.form === null) return errorAnswer(wire.formRefusal());
  const fields = new Fields(call.form);
  const purpose = fields.text("purpose");
  if (purpose === undefined) return errorAnswer(wire.errors.forProblem({ kind: "missing", field: "purpose" }));
  if (!wire.purposes.includes(purpose)) {
    const message = `'${purpose}' is not one of ${wire.purposes.join(", ")}`;
    return errorAnswer(wire.errors.forProblem(badValue("purpose", message, purpose)));
  }
  // oxlint-disable-next-line no-restricted-properties -- an upload names the time of its deletion, counted from now
  const now = Math.floor(Date.now() / 1_000);
  const made = wire.create(fields, now);
  if ("kind" in made) return errorAnswer(wire.errors.forProblem(made));
  const id = `file-${call.identity.token(`file ${call.kept.files.next()}`, 22)}`;
  const body = { object: "file", id, purpose, ...made.body, created_at: now };
  call.kept.files.add({ ...made, account: accountOf(call), id, body });
  return jsonAnswer(body);
}

/** One page of the files of a key, newest first unless asked otherwise. */
function list(call: Call, wire: FilesWire): Answer {
  const { query } = call;
  const limit = Number(query.get("limit") ?? wire.limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > wire.limitMax) {
    const expected = `an integer from 1 to ${wire.limitMax}`;
    return errorAnswer(wire.errors.forProblem({ kind: "wrong-type", field: "limit", expected, value: limit }));
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    return errorAnswer(wire.errors.forProblem(badValue("order", "expected asc or desc", order)));
  }
  const purpose = query.get("purpose");
  const all = call.kept.files.all(accountOf(call)).map((file) => wire.later?.(file, call) ?? file.body);
  const ordered = order === "asc" ? all : all.toReversed();
  const after = query.get("after");
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return errorAnswer(wire.notFound(after));
  const wanted = ordered.slice(from).filter((file) => purpose === null || file["purpose"] === purpose);
  const data = wanted.slice(0, limit);
  return jsonAnswer({
    object: wire.listObject,
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: data.length < wanted.length,
  });
}

function remove(call: Call, file: StoredFile): Answer {
  call.kept.files.delete(file);
  return jsonAnswer({ object: "file", id: file.id, deleted: true });
}

/** The bytes, or the one range that was asked for. */
function bytesOf({ headers }: Call, { bytes, contentType, body }: StoredFile): Answer {
  const name = String(body["filename"]).replaceAll(/["\\\r\n]|[^\u0020-\u007e]/g, "_");
  const whole = {
    kind: "bytes" as const,
    contentType,
    headers: { "accept-ranges": "bytes", "content-disposition": `attachment; filename="${name}"` },
  };
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers["range"] ?? "") ?? [];
  if (first === undefined || (first === "" && last === "")) return { ...whole, bytes };
  const start = first === "" ? Math.max(bytes.length - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? bytes.length : Math.min(Number(last) + 1, bytes.length);
  if (start >= end) {
    const refused = { ...whole.headers, "content-range": `bytes */${bytes.length}` };
    return { ...whole, status: 416, headers: refused, bytes: new Uint8Array() };
  }
  const range = `bytes ${start}-${end - 1}/${bytes.length}`;
  return {
    ...whole,
    status: 206,
    headers: { ...whole.headers, "content-range": range },
    bytes: bytes.subarray(start, end),
  };
}
