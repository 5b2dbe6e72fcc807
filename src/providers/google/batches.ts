import { type JsonObject, objectOf, objectsOf } from "../../core/index.ts";
import type { BatchApi, BatchApiResult, UpstreamBatch } from "../batch-api.ts";
import { batchOf, textOf } from "../shared/batches/read-batch.ts";

const VERSION = "/v1beta";

/** By the end of their names, which begin with `BATCH_STATE_` or `JOB_STATE_`. */
const states: Readonly<Record<string, UpstreamBatch["state"]>> = {
  UNSPECIFIED: "running",
  PENDING: "running",
  QUEUED: "running",
  RUNNING: "running",
  CANCELLING: "running",
  SUCCEEDED: "ended",
  PARTIALLY_SUCCEEDED: "ended",
  CANCELLED: "ended",
  EXPIRED: "ended",
  FAILED: "refused",
};

/** The statuses of HTTP, by the codes of gRPC. */
const statuses: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  13: 500,
  14: 503,
  16: 401,
};

const CANCELLED = 1;
const SERVER_ERROR = 500;

function read(operation: JsonObject): UpstreamBatch | undefined {
  const metadata = objectOf(operation["metadata"]) ?? {};
  const state = states[String(metadata["state"]).replace(/^(?:BATCH|JOB)_STATE_/, "")];
  const isDone = operation["done"] === true && state === "running";
  const error = objectOf(operation["error"]);
  const ended = error === undefined ? "ended" : "refused";
  // An operation that has results has not been refused.
  const hasResults = objectOf(operation["response"]) !== undefined;
  const known = hasResults ? "ended" : isDone ? ended : state;
  return batchOf(operation["name"], known, { marker: metadata["displayName"], reason: error?.["message"] });
}

function outcomeOf(result: JsonObject): BatchApiResult["outcome"] {
  const response = objectOf(result["response"]);
  if (response !== undefined) return { status: 200, body: response };
  const error = objectOf(result["error"]);
  const code = Number(error?.["code"]);
  if (error === undefined || code === CANCELLED) return "not-called";
  const status = statuses[code] ?? (code >= 400 && code < 600 ? code : SERVER_ERROR);
  return { status, body: { error: { status: "UNKNOWN", ...error, code: status } } };
}

/** The name is one that this API has made: `batches/ID`. */
const addressOf = (name: string): string => `${VERSION}/${name.split("/").map(encodeURIComponent).join("/")}`;

const nameOf = (model: string): string => encodeURIComponent(model.replace(/^models\//, ""));

const LIST = `${VERSION}/batches?pageSize=100`;

/** Google's: requests of one model to generateContent, in the request of the creation; so are the results. */
export const batches: BatchApi = {
  // All results are in one JSON, which is parsed in one step: 64,000 tokens a line are 25 MB.
  linesMax: 100,
  bytesMax: 15_000_000,
  needsOneModel: true,
  textOperation: "gemini",
  takes: (path) => path === `${VERSION}/models/`,
  lineOf: ({ id, body }) => `{"request":${body},"metadata":{"key":${JSON.stringify(id)}}}`,
  create: ({ lines, model, marker }) => ({
    path: `${VERSION}/models/${nameOf(model)}:batchGenerateContent`,
    method: "POST",
    body: `{"batch":{"displayName":${JSON.stringify(marker)},"inputConfig":{"requests":{"requests":[${lines.join(",")}]}}}}`,
  }),
  get: (name) => ({ path: addressOf(name) }),
  cancel: (name) => ({ path: `${addressOf(name)}:cancel`, method: "POST" }),
  list: {
    request: { path: LIST },
    read(page) {
      const token = textOf(page["nextPageToken"]);
      return {
        items: objectsOf(page["operations"]).flatMap((each) => read(each) ?? []),
        next: token === undefined ? undefined : { path: `${LIST}&pageToken=${encodeURIComponent(token)}` },
      };
    },
  },
  read,
  results: () => [{ format: "answer" }],
  readPage(operation) {
    const response = objectOf(operation["response"]) ?? objectOf(objectOf(operation["metadata"])?.["output"]) ?? {};
    const inlined = response["inlinedResponses"];
    const items = Array.isArray(inlined) ? inlined : objectOf(inlined)?.["inlinedResponses"];
    return { items: objectsOf(items), next: undefined };
  },
  readResult(result) {
    const id = textOf(objectOf(result["metadata"])?.["key"]);
    return id === undefined ? undefined : { id, outcome: outcomeOf(result) };
  },
};
