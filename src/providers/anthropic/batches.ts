import { type JsonObject, objectOf } from "../../core/index.ts";
import type { BatchApi, BatchApiResult, UpstreamBatch } from "../batch-api.ts";
import { batchOf, textOf } from "../shared/batches/read-batch.ts";

const BATCHES = "/v1/messages/batches";

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
  timeout_error: 504,
};

const SERVER_ERROR = 500;

const states: Readonly<Record<string, UpstreamBatch["state"]>> = {
  in_progress: "running",
  canceling: "running",
  ended: "ended",
};

const read = (answer: JsonObject): UpstreamBatch | undefined =>
  batchOf(answer["id"], states[String(answer["processing_status"])], { marker: undefined });

function outcomeOf(result: JsonObject): BatchApiResult["outcome"] {
  switch (result["type"]) {
    case "succeeded":
      return { status: 200, body: result["message"] };
    case "errored": {
      const body = objectOf(result["error"]) ?? {};
      const type = String(objectOf(body["error"])?.["type"]);
      return { status: statuses[type] ?? SERVER_ERROR, body };
    }
    default:
      return "not-called";
  }
}

/** Anthropic's: Messages of any models, in the request of the creation. They have no metadata, so that a lost one stays lost. */
export const batches: BatchApi = {
  linesMax: 100_000,
  bytesMax: 200_000_000,
  needsOneModel: false,
  textOperation: "messages",
  takes: (path) => path === "/v1/messages",
  lineOf: ({ id, body }) => `{"custom_id":${JSON.stringify(id)},"params":${body}}`,
  create: ({ lines }) => ({ path: BATCHES, method: "POST", body: `{"requests":[${lines.join(",")}]}` }),
  get: (id) => ({ path: `${BATCHES}/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ path: `${BATCHES}/${encodeURIComponent(id)}/cancel`, method: "POST" }),
  read,
  results(answer) {
    const id = textOf(answer["id"]);
    // The address in the answer is not followed: it could be any.
    if (id === undefined || answer["results_url"] === null) return [];
    return [{ request: { path: `${BATCHES}/${encodeURIComponent(id)}/results` }, format: "lines" }];
  },
  readResult(line) {
    const id = textOf(line["custom_id"]);
    return id === undefined ? undefined : { id, outcome: outcomeOf(objectOf(line["result"]) ?? {}) };
  },
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
};
