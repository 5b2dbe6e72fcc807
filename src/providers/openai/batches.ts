import { type JsonObject, listOf, objectOf, objectsOf } from "../../core/index.ts";
import type { BatchApi, UpstreamBatch } from "../batch-api.ts";
import { batchOf, readResultLine, textOf } from "../shared/batches/read-batch.ts";

/** The version that the addresses in lines have, and paths below the base URL do not. */
const VERSION = "/v1";

const paths: ReadonlySet<string> = new Set([
  "/chat/completions",
  "/responses",
  "/embeddings",
  "/completions",
  "/moderations",
  "/images/generations",
]);

const states: Readonly<Record<string, UpstreamBatch["state"]>> = {
  validating: "running",
  in_progress: "running",
  finalizing: "running",
  cancelling: "running",
  failed: "refused",
  completed: "ended",
  expired: "ended",
  cancelled: "ended",
};

const marked = ({ metadata }: JsonObject): unknown => objectOf(metadata)?.["tollgate"];

function read(answer: JsonObject): UpstreamBatch | undefined {
  const errors = objectsOf(objectOf(answer["errors"])?.["data"]);
  const reason = errors[0]?.["code"] ?? errors[0]?.["message"];
  return batchOf(answer["id"], states[String(answer["status"])], { marker: marked(answer), reason });
}

/** OpenAI's: lines in a file, of one endpoint and one model. */
export const batches: BatchApi = {
  linesMax: 50_000,
  bytesMax: 200_000_000,
  needsOneModel: true,
  takes: (path) => paths.has(path),
  lineOf: ({ id, path, body }) =>
    `{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(VERSION + path)},"body":${body}}`,
  upload: { purpose: "batch" },
  create: ({ fileId, path, marker }) => ({
    path: "/batches",
    method: "POST",
    body: JSON.stringify({
      input_file_id: fileId,
      endpoint: VERSION + path,
      completion_window: "24h",
      metadata: { tollgate: marker },
    }),
  }),
  get: (id) => ({ path: `/batches/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ path: `/batches/${encodeURIComponent(id)}/cancel`, method: "POST" }),
  list: {
    request: { path: "/batches?limit=100" },
    read(page) {
      const last = textOf(page["last_id"]);
      const hasMore = page["has_more"] === true && last !== undefined;
      return {
        items: objectsOf(page["data"]).flatMap((each) => read(each) ?? []),
        next: hasMore ? { path: `/batches?limit=100&after=${encodeURIComponent(last)}` } : undefined,
      };
    },
  },
  read,
  results: (answer) =>
    listOf([answer["output_file_id"], answer["error_file_id"]]).flatMap((id) => {
      const file = textOf(id);
      if (file === undefined) return [];
      return [{ request: { path: `/files/${encodeURIComponent(file)}/content` }, format: "lines" as const }];
    }),
  readResult: readResultLine,
};
