import { badValue, type Problem } from "../shared/check.ts";
import { type Fields, fileRoutes, type FilesWire, type NewFile } from "../shared/files/routes.ts";
import type { StoredFile } from "../shared/files/stored-files.ts";
import type { JsonObject } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, type Route } from "../shared/types.ts";
import { byteplusErrors, byteplusRefusal } from "./errors.ts";

const basePath = "/byteplus/api/v3";
const downloads = "/byteplus/downloads";
const daySeconds = 86_400;
const sizeMax = 512 * 1_048_576;

function create(fields: Fields, now: number): NewFile | Problem {
  const file = fields.file("file");
  const url = fields.text("url");
  if ((file === undefined) === (url === undefined)) return { kind: "missing", field: "file" };
  const expires = Number(fields.text("expire_at") ?? now + 7 * daySeconds);
  if (!Number.isInteger(expires) || expires < now + daySeconds || expires > now + 30 * daySeconds) {
    return badValue("expire_at", "expected 1 to 30 days from now", expires);
  }
  const type = file?.contentType ?? "application/octet-stream";
  // Nothing is fetched: the file behind an address has its address as content.
  const bytes = file?.bytes ?? Buffer.from(url ?? "");
  if (bytes.length > sizeMax) return badValue("file", "over 512 MB");
  const filename = file?.filename ?? new URL(url ?? "http://localhost/file", "http://localhost").pathname.slice(1);
  const status = type.startsWith("video/") ? "processing" : "active";
  return {
    body: { filename, bytes: bytes.length, mime_type: type, expire_at: expires, status },
    bytes,
    contentType: type,
  };
}

/** A video is processed by the time of the next request. */
function later({ body, id }: StoredFile, call: Call): JsonObject {
  return { ...body, status: "active", download_url: `http://${call.headers["host"] ?? "localhost"}${downloads}/${id}` };
}

function download(call: Call): Answer {
  const file = call.kept.files.find(call.parameters["id"] ?? "");
  if (file === undefined) return errorAnswer(byteplusErrors.forStatus(404));
  return { kind: "bytes", contentType: file.contentType, bytes: file.bytes };
}

const wire: FilesWire = {
  errors: byteplusErrors,
  hasContent: false,
  listObject: "file",
  purposes: ["user_data", "agent"],
  limitDefault: 20,
  limitMax: 100,
  notFound: (id) => byteplusRefusal(404, "NotFound.File", `The file ${id} does not exist.`, "NotFound"),
  formRefusal: () => byteplusRefusal(400, "InvalidParameter", "The form could not be read.", "BadRequest"),
  create,
  later,
};

/** Files of BytePlus: read at a signed address, not by a route. */
export const fileRoutesOfByteplus: readonly Route[] = [
  ...fileRoutes(basePath, wire),
  { method: "GET", path: `${downloads}/:id`, open: true, handle: download },
];
