import { isFile } from "../shared/form.ts";
import { bearerKey } from "../shared/http.ts";
import type { StoredFile } from "../shared/files/stored-files.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";

const path = "/anthropic/v1/files";
const limitDefault = 20;
const limitMax = 1_000;

/** The key without its faults. */
function accountOf({ headers }: Call): string {
  return (headers["x-api-key"] ?? bearerKey(headers) ?? "").split("+", 1)[0] ?? "";
}

function upload(call: Call): Answer {
  const file = call.form?.find((part) => part.name === "file" && isFile(part));
  if (file === undefined) return errorAnswer(nativeErrors.forProblem({ kind: "missing", field: "file" }));
  const id = `file_011${call.identity.token(`file ${call.kept.files.next()}`, 21)}`;
  const contentType = file.contentType ?? "application/octet-stream";
  const body = {
    id,
    type: "file",
    filename: file.filename,
    mime_type: contentType,
    size_bytes: file.bytes.length,
    created_at: "2026-01-01T00:00:00Z",
    downloadable: false,
  };
  call.kept.files.add({ account: accountOf(call), id, body, bytes: file.bytes, contentType });
  return jsonAnswer(body);
}

/** One page, newest first. */
function list(call: Call): Answer {
  const { query } = call;
  const limit = Number(query.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    const expected = `an integer from 1 to ${limitMax}`;
    return errorAnswer(nativeErrors.forProblem({ kind: "wrong-type", field: "limit", expected, value: limit }));
  }
  const all = call.kept.files
    .all(accountOf(call))
    .map(({ body }) => body)
    .toReversed();
  const from = Number(/^page_(\d+)$/.exec(query.get("page") ?? "page_0")?.[1]);
  if (!Number.isInteger(from)) {
    return errorAnswer(nativeErrors.forProblem({ kind: "wrong-type", field: "page", expected: "a page", value: from }));
  }
  const end = from + limit;
  return jsonAnswer({ data: all.slice(from, end), next_page: end < all.length ? `page_${end}` : null });
}

const withFile =
  (handle: (call: Call, file: StoredFile) => Answer) =>
  (call: Call): Answer => {
    const file = call.kept.files.get(accountOf(call), call.parameters["id"] ?? "");
    return file === undefined ? errorAnswer(nativeErrors.forStatus(404)) : handle(call, file);
  };

function remove(call: Call, file: StoredFile): Answer {
  call.kept.files.delete(file);
  return jsonAnswer({ id: file.id, type: "file_deleted" });
}

/** The bytes of files that tools have made are given out, those of uploads are not. */
function refuseContent(): Answer {
  const message = "File is not downloadable.";
  return errorAnswer(nativeErrors.forProblem({ kind: "unsupported", field: "file_id", message }));
}

/** Files of Anthropic. */
export const fileRoutes: readonly Route[] = [
  { method: "POST", path, handle: upload },
  { method: "GET", path, handle: list },
  { method: "GET", path: `${path}/:id`, handle: withFile((_call, { body }) => jsonAnswer(body)) },
  { method: "GET", path: `${path}/:id/content`, handle: withFile(refuseContent) },
  { method: "DELETE", path: `${path}/:id`, handle: withFile(remove) },
];
