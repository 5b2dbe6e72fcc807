import { accountOf, bodyOf, readLines, resultsOf } from "../shared/batches/line-files.ts";
import { type LineRunner, refusalOf, refused } from "../shared/batches/run-lines.ts";
import { type BatchPhase, type StoredBatch, wordIn } from "../shared/batches/stored-batches.ts";
import { bearerKey } from "../shared/http.ts";
import { asObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { openaiErrors, openaiRefusal } from "./errors.ts";

const path = "/openai/v1/batches";

const endpoints: ReadonlySet<unknown> = new Set([
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/moderations",
  "/v1/images/generations",
]);

const statuses: Readonly<Record<BatchPhase, string>> = {
  validating: "validating",
  running: "in_progress",
  cancelling: "cancelling",
  completed: "completed",
  refused: "failed",
  expired: "expired",
  cancelled: "cancelled",
};

const accountIn = ({ headers }: Call): string => accountOf(bearerKey(headers));

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

function create(call: Call, runner: LineRunner): Answer {
  const { endpoint, completion_window: window, input_file_id: fileId, metadata } = bodyOf(call);
  if (!endpoints.has(endpoint)) return refusal("Invalid endpoint.", "endpoint");
  if (window !== "24h") return refusal("Invalid completion window.", "completion_window");
  const account = accountIn(call);
  const file = call.kept.files.get(account, stringOr(fileId, ""));
  if (file?.body["purpose"] !== "batch") return refusal("Invalid input file.", "input_file_id");
  const read = readLines(file.bytes, (line) => {
    const isPost = line["method"] === "POST" && line["url"] === endpoint;
    const id = stringOr(line["custom_id"], "");
    return isPost ? { id, path: `/openai${String(line["url"])}`, body: asObject(line["body"]) } : undefined;
  });
  const lines = "lines" in read ? read.lines : [];
  const asked = wordIn(lines) === "refuse" ? refused("token_limit_exceeded", "Too many tokens wait.") : undefined;
  const { batches } = call.kept;
  const batch = batches.add({
    account,
    id: `batch_${call.identity.hex(`batch ${batches.next()}`, 32)}`,
    body: { endpoint, input_file_id: fileId, completion_window: window, metadata: metadata ?? null },
    lines,
    refusal: "refusal" in read ? read.refusal : (asked ?? refusalOf(lines, { needsOneModel: true })),
  });
  return jsonAnswer(shown(call, batch, runner));
}

function refusal(message: string, param: string): Answer {
  return errorAnswer(openaiRefusal(message, param, "invalid_value"));
}

function shown(call: Call, batch: StoredBatch, runner: LineRunner): JsonObject {
  const phase = call.kept.batches.phaseOf(batch);
  const { files, counts } = resultsOf(call, batch, runner);
  const { refusal: why } = batch;
  return {
    id: batch.id,
    object: "batch",
    ...batch.body,
    status: statuses[phase],
    errors: phase === "refused" && why !== undefined ? { object: "list", data: [{ ...why, param: null }] } : null,
    output_file_id: files?.output ?? null,
    error_file_id: files?.error ?? null,
    created_at: seconds(batch.createdAt),
    expires_at: seconds(batch.createdAt) + 86_400,
    request_counts: { total: batch.lines.length, completed: counts.output, failed: counts.error },
  };
}

const withBatch =
  (handle: (call: Call, batch: StoredBatch) => Answer) =>
  (call: Call): Answer => {
    const id = call.parameters["id"] ?? "";
    const batch = call.kept.batches.get(accountIn(call), id);
    if (batch === undefined) return errorAnswer(openaiRefusal(`No batch found with id '${id}'.`, "id", null, 404));
    return handle(call, batch);
  };

function cancel(call: Call, batch: StoredBatch, runner: LineRunner): Answer {
  const phase = call.kept.batches.phaseOf(batch);
  if (phase !== "running" && phase !== "validating") return refusal(`Cannot cancel a ${statuses[phase]} batch.`, "id");
  call.kept.batches.cancel(batch);
  return jsonAnswer(shown(call, batch, runner));
}

function list(call: Call, runner: LineRunner): Answer {
  const all = call.kept.batches.all(accountIn(call));
  const limit = Number(call.query.get("limit") ?? 20);
  const from = all.findIndex(({ id }) => id === call.query.get("after")) + 1;
  const data = all.slice(from, from + limit).map((batch) => shown(call, batch, runner));
  const ids = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
  return jsonAnswer({ object: "list", data, ...ids, has_more: all.length > from + limit });
}

/** Batches of OpenAI, whose requests are those of these routes. */
export function batchRoutes(routes: readonly Route[]): readonly Route[] {
  const runner: LineRunner = { routes, errors: openaiErrors };
  const retrieve = withBatch((call, batch) => jsonAnswer(shown(call, batch, runner)));
  return [
    { method: "POST", path, handle: (call) => create(call, runner) },
    { method: "GET", path, handle: (call) => list(call, runner) },
    { method: "GET", path: `${path}/:id`, handle: retrieve },
    { method: "POST", path: `${path}/:id/cancel`, handle: withBatch((call, batch) => cancel(call, batch, runner)) },
  ];
}
