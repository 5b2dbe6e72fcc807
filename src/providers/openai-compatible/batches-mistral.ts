import { type JsonObject, objectOf, objectsOf } from "../../core/index.ts";
import type { BatchApi, UpstreamBatch } from "../batch-api.ts";
import { batchOf, countOf, readResultLine, textOf } from "../shared/batches/read-batch.ts";

const VERSION = "/v1";
const JOBS = "/batch/jobs";
const PAGE = 100;

const paths: ReadonlySet<string> = new Set(["/chat/completions", "/embeddings", "/moderations"]);

function stateOf({ status, succeeded_requests: succeeded }: JsonObject): UpstreamBatch["state"] | undefined {
  switch (status) {
    case "QUEUED":
    case "RUNNING":
    case "CANCELLATION_REQUESTED":
      return "running";
    case "SUCCESS":
    case "TIMEOUT_EXCEEDED":
    case "CANCELLED":
      return "ended";
    case "FAILED":
      return countOf(succeeded) > 0 ? "ended" : "refused";
    default:
      return undefined;
  }
}

function read(job: JsonObject): UpstreamBatch | undefined {
  const marker = objectOf(job["metadata"])?.["tollgate"];
  return batchOf(job["id"], stateOf(job), { marker, reason: objectsOf(job["errors"])[0]?.["message"] });
}

const pageAt = (page: number): string => `${JOBS}?page=${page}&page_size=${PAGE}`;

/** Mistral's jobs: lines in a file, whose endpoint and model are the job's. */
export const mistralBatches: BatchApi = {
  linesMax: 1_000_000,
  bytesMax: 500_000_000,
  needsOneModel: true,
  takes: (path) => paths.has(path),
  lineOf: ({ id, body }) => `{"custom_id":${JSON.stringify(id)},"body":${body}}`,
  upload: { purpose: "batch" },
  create: ({ fileId, path, model, marker }) => ({
    path: JOBS,
    method: "POST",
    body: JSON.stringify({
      input_files: [fileId],
      endpoint: VERSION + path,
      model,
      timeout_hours: 24,
      metadata: { tollgate: marker },
    }),
  }),
  get: (id) => ({ path: `${JOBS}/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ path: `${JOBS}/${encodeURIComponent(id)}/cancel`, method: "POST" }),
  list: {
    request: { path: pageAt(0) },
    read: (page) => ({ items: objectsOf(page["data"]).flatMap((each) => read(each) ?? []), next: undefined }),
  },
  read,
  results: (job) =>
    [job["output_file"], job["error_file"]].flatMap((id) => {
      const file = textOf(id);
      if (file === undefined) return [];
      return [{ request: { path: `/files/${encodeURIComponent(file)}/content` }, format: "lines" as const }];
    }),
  readResult: readResultLine,
};
