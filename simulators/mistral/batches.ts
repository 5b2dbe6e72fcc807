import { accountOf, bodyOf, readLines, resultsOf } from "../shared/batches/line-files.ts";
import { type LineRunner, refusalOf, refused } from "../shared/batches/run-lines.ts";
import { type BatchPhase, type StoredBatch, wordIn } from "../shared/batches/stored-batches.ts";
import { bearerKey } from "../shared/http.ts";
import { asArray, asObject, isGiven, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { mistralErrors } from "./errors.ts";

const path = "/mistral/v1/batch/jobs";

const endpoints: ReadonlySet<unknown> = new Set(["/v1/chat/completions", "/v1/embeddings", "/v1/moderations"]);

const statuses: Readonly<Record<BatchPhase, string>> = {
  validating: "QUEUED",
  running: "RUNNING",
  cancelling: "CANCELLATION_REQUESTED",
  completed: "SUCCESS",
  refused: "FAILED",
  expired: "TIMEOUT_EXCEEDED",
  cancelled: "CANCELLED",
};

const accountIn = ({ headers }: Call): string => accountOf(bearerKey(headers));

const missing = (field: string): Answer => errorAnswer(mistralErrors.forProblem({ kind: "missing", field }));

/** The model is the job's, and the lines have only bodies. */
function create(call: Call, runner: LineRunner): Answer {
  const { input_files: files, endpoint, model, metadata } = bodyOf(call);
  if (!endpoints.has(endpoint)) return missing("endpoint");
  if (typeof model !== "string") return missing("model");
  const account = accountIn(call);
  const file = call.kept.files.get(account, stringOr(asArray(files)[0], ""));
  if (file === undefined) return missing("input_files");
  const read = readLines(file.bytes, (line) => {
    const id = stringOr(line["custom_id"], "");
    const isPlain = !isGiven(line["url"]) && !isGiven(line["method"]);
    return isPlain
      ? { id, path: `/mistral${String(endpoint)}`, body: { ...asObject(line["body"]), model } }
      : undefined;
  });
  const lines = "lines" in read ? read.lines : [];
  const asked = wordIn(lines) === "refuse" ? refused("refused", "The job was refused.") : undefined;
  const { batches } = call.kept;
  const batch = batches.add({
    account,
    id: call.identity.uuid(`job ${batches.next()}`),
    body: { input_files: files, endpoint, model, metadata: metadata ?? null },
    lines,
    refusal: "refusal" in read ? read.refusal : (asked ?? refusalOf(lines, { needsOneModel: true })),
  });
  return jsonAnswer(shown(call, batch, runner));
}

function shown(call: Call, batch: StoredBatch, runner: LineRunner): JsonObject {
  const phase = call.kept.batches.phaseOf(batch);
  const { files, counts } = resultsOf(call, batch, runner);
  const failed = phase === "refused" ? [{ message: batch.refusal?.message, count: 1 }] : [];
  return {
    id: batch.id,
    object: "batch",
    ...batch.body,
    status: statuses[phase],
    errors: failed,
    output_file: files?.output ?? null,
    error_file: files?.error ?? null,
    total_requests: batch.lines.length,
    completed_requests: counts.output + counts.error,
    succeeded_requests: counts.output,
    failed_requests: counts.error,
    created_at: Math.floor(batch.createdAt / 1_000),
  };
}

const withBatch =
  (handle: (call: Call, batch: StoredBatch) => Answer) =>
  (call: Call): Answer => {
    const batch = call.kept.batches.get(accountIn(call), call.parameters["id"] ?? "");
    return batch === undefined ? errorAnswer(mistralErrors.forStatus(404)) : handle(call, batch);
  };

function list(call: Call, runner: LineRunner): Answer {
  const size = Number(call.query.get("page_size") ?? 100);
  const from = Number(call.query.get("page") ?? 0) * size;
  const all = call.kept.batches.all(accountIn(call));
  const data = all.slice(from, from + size).map((batch) => shown(call, batch, runner));
  return jsonAnswer({ object: "list", data, total: all.length });
}

/** Batch jobs of Mistral, whose requests are those of these routes. */
export function batchRoutes(routes: readonly Route[]): readonly Route[] {
  const runner: LineRunner = { routes, errors: mistralErrors };
  const retrieve = withBatch((call, batch) => jsonAnswer(shown(call, batch, runner)));
  const cancel = withBatch((call, batch) => {
    call.kept.batches.cancel(batch);
    return jsonAnswer(shown(call, batch, runner));
  });
  return [
    { method: "POST", path, handle: (call) => create(call, runner) },
    { method: "GET", path, handle: (call) => list(call, runner) },
    { method: "GET", path: `${path}/:id`, handle: retrieve },
    { method: "POST", path: `${path}/:id/cancel`, handle: cancel },
  ];
}
