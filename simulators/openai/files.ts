import { badValue, type Problem } from "../shared/check.ts";
import { type Fields, fileRoutes, type FilesWire, type NewFile } from "../shared/files/routes.ts";
import { openaiErrors, openaiFormRefusal, openaiRefusal } from "./errors.ts";

const hourSeconds = 3_600;
const monthSeconds = 30 * 86_400;
const known = new Set(["file", "purpose", "expires_after[anchor]", "expires_after[seconds]"]);

/** Uploads for these purposes are not given out again. */
const unreadable: ReadonlySet<unknown> = new Set(["assistants", "user_data", "vision"]);

function create(fields: Fields, now: number): NewFile | Problem {
  const unknown = fields.names.find((name) => !known.has(name));
  if (unknown !== undefined) return { kind: "unknown", field: unknown, value: null };
  const file = fields.file("file");
  if (file === undefined) return { kind: "missing", field: "file" };
  const anchor = fields.text("expires_after[anchor]");
  const seconds = fields.text("expires_after[seconds]");
  if ((anchor === undefined) !== (seconds === undefined)) return { kind: "missing", field: "expires_after" };
  if (anchor !== undefined && anchor !== "created_at")
    return badValue("expires_after.anchor", "expected created_at", anchor);
  const lifetime = Number(seconds ?? hourSeconds);
  if (!Number.isInteger(lifetime) || lifetime < hourSeconds || lifetime > monthSeconds) {
    return badValue("expires_after.seconds", `expected ${hourSeconds} to ${monthSeconds}`, lifetime);
  }
  const { filename, bytes, contentType } = file;
  const body = {
    filename,
    bytes: bytes.length,
    expires_at: seconds === undefined ? null : now + lifetime,
    status: "processed",
    status_details: null,
  };
  return { body, bytes, contentType: contentType ?? "application/octet-stream" };
}

const wire: FilesWire = {
  errors: openaiErrors,
  hasContent: true,
  listObject: "list",
  purposes: ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"],
  limitDefault: 10_000,
  limitMax: 10_000,
  notFound: (id) => openaiRefusal(`No such File object: ${id}`, "id", null, 404),
  formRefusal: openaiFormRefusal,
  create,
  refuseContent: ({ body }) =>
    unreadable.has(body["purpose"])
      ? openaiRefusal(`Not allowed to download files of purpose: ${String(body["purpose"])}`, null, null)
      : null,
};

/** Files of OpenAI. */
export const openaiFileRoutes = fileRoutes("/openai/v1", wire);
