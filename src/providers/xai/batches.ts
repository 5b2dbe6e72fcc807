import { type JsonObject, objectOf, objectsOf } from "../../core/index.ts";
import type { BatchApi, BatchApiRequest, UpstreamBatch } from "../batch-api.ts";
import { batchOf, countOf, textOf } from "../shared/batches/read-batch.ts";

const VERSION = "/v1";

const paths: ReadonlySet<string> = new Set(["/chat/completions", "/responses"]);

const SERVER_ERROR = 500;

/** There is no status, only counts. */
function read(batch: JsonObject): UpstreamBatch | undefined {
  const state = objectOf(batch["state"]) ?? {};
  const reason = textOf(batch["cancel_by_xai_message"]);
  const hasEnded = countOf(state["num_requests"]) > 0 && countOf(state["num_pending"]) === 0;
  const isRefused = reason !== undefined && countOf(state["num_success"]) === 0;
  const status = isRefused ? "refused" : hasEnded ? "ended" : "running";
  return batchOf(batch["batch_id"], status, { marker: batch["name"], reason });
}

/** The request with the page's own address for the next one. */
function nextOf(path: string, page: JsonObject): BatchApiRequest | undefined {
  const token = textOf(page["pagination_token"]);
  return token === undefined ? undefined : { path: `${path}&pagination_token=${encodeURIComponent(token)}` };
}

const LIST = "/batches?limit=100";

const idOf = (id: string): string => encodeURIComponent(id);
const resultsOf = (id: string): string => `/batches/${idOf(id)}/results?limit=100`;

/** xAI's: lines in a file, each with its own endpoint and model. */
export const batches: BatchApi = {
  linesMax: 10_000,
  bytesMax: 100_000_000,
  needsOneModel: false,
  takes: (path) => paths.has(path),
  lineOf: ({ id, path, body }) =>
    `{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(VERSION + path)},"body":${body}}`,
  upload: { purpose: "batch" },
  create: ({ fileId, marker }) => ({
    path: "/batches",
    method: "POST",
    body: JSON.stringify({ name: marker, input_file_id: fileId }),
  }),
  get: (id) => ({ path: `/batches/${idOf(id)}` }),
  cancel: (id) => ({ path: `/batches/${idOf(id)}:cancel`, method: "POST" }),
  list: {
    request: { path: LIST },
    read: (page) => ({
      items: objectsOf(page["batches"]).flatMap((each) => read(each) ?? []),
      next: nextOf(LIST, page),
    }),
  },
  read,
  results(batch) {
    const id = textOf(batch["batch_id"]);
    return id === undefined ? [] : [{ request: { path: resultsOf(id) }, format: "page" }];
  },
  readPage(page, { path }) {
    const [address = path] = path.split("&pagination_token=");
    return { items: objectsOf(page["results"]), next: nextOf(address, page) };
  },
  readResult(result) {
    const id = textOf(result["batch_request_id"]);
    if (id === undefined) return undefined;
    const outcome = objectOf(result["batch_result"]) ?? {};
    const [body] = Object.values(objectOf(outcome["response"]) ?? {});
    if (objectOf(body) !== undefined) return { id, outcome: { status: 200, body } };
    const error = objectOf(outcome["error"]);
    const message = textOf(error?.["message"]) ?? textOf(result["error_message"]);
    if (error === undefined && message === undefined) return { id, outcome: "not-called" };
    const status = Number(error?.["code"]);
    const isStatus = Number.isInteger(status) && status >= 400 && status < 600;
    return {
      id,
      outcome: { status: isStatus ? status : SERVER_ERROR, body: { error: { message: message ?? "failed" } } },
    };
  },
};
