import { accountOf, bodyOf } from "../shared/batches/line-files.ts";
import { type LineRunner, outcomesOf, refusalOf, refused } from "../shared/batches/run-lines.ts";
import {
  type BatchLine,
  type BatchPhase,
  type LineOutcome,
  type StoredBatch,
  wordIn,
} from "../shared/batches/stored-batches.ts";
import { asArray, asObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";

const models = "/google/v1beta/models";
const path = "/google/v1beta/batches";

const states: Readonly<Record<BatchPhase, string>> = {
  validating: "PENDING",
  running: "RUNNING",
  cancelling: "RUNNING",
  completed: "SUCCEEDED",
  refused: "FAILED",
  expired: "EXPIRED",
  cancelled: "CANCELLED",
};

const accountIn = ({ headers, query }: Call): string => accountOf(headers["x-goog-api-key"] ?? query.get("key"));

/** The codes of gRPC, by the statuses of HTTP. */
const codes: Readonly<Record<number, number>> = { 400: 3, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14 };

function create(call: Call): Answer {
  const { displayName, inputConfig } = asObject(bodyOf(call)["batch"]);
  const model = call.parameters["model"] ?? "";
  if (typeof displayName !== "string") return missing("batch.display_name");
  const requests = asArray(asObject(asObject(inputConfig)["requests"])["requests"]).map(asObject);
  const lines = requests.map(({ request, metadata }): BatchLine => {
    const id = stringOr(asObject(metadata)["key"], "");
    return { id, path: `${models}/${encodeURIComponent(model)}:generateContent`, body: asObject(request) };
  });
  if (lines.length === 0) return missing("batch.input_config");
  const asked = wordIn(lines) === "refuse" ? refused("refused", "The batch was refused.") : undefined;
  const { batches } = call.kept;
  const batch = batches.add({
    account: accountIn(call),
    id: call.identity.token(`batch ${batches.next()}`, 24).toLowerCase(),
    body: { displayName, model: `models/${model}` },
    lines,
    refusal: asked ?? refusalOf(lines, { needsOneModel: false }),
  });
  return jsonAnswer({ name: `batches/${batch.id}`, metadata: metadataOf(call, batch) });
}

const missing = (field: string): Answer => errorAnswer(nativeErrors.forProblem({ kind: "missing", field }));

function metadataOf(call: Call, batch: StoredBatch): JsonObject {
  const { phase, lines } = { phase: call.kept.batches.phaseOf(batch), lines: batch.lines };
  return {
    "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
    ...batch.body,
    name: `batches/${batch.id}`,
    state: `BATCH_STATE_${states[phase]}`,
    createTime: new Date(batch.createdAt).toISOString(),
    batchStats: { requestCount: String(lines.length) },
  };
}

function resultOf({ id, answer }: LineOutcome): JsonObject {
  const metadata = { key: id };
  if (typeof answer !== "object") return { error: { code: 1, message: "cancelled" }, metadata };
  if (answer.status < 400) return { response: answer.body, metadata };
  const { message } = asObject(asObject(answer.body)["error"]);
  return { error: { code: codes[answer.status] ?? 13, message }, metadata };
}

/** The results are in the order of the requests, and only of a batch that came to its end. */
function shown(call: Call, batch: StoredBatch, runner: LineRunner): JsonObject {
  const phase = call.kept.batches.phaseOf(batch);
  const operation = { name: `batches/${batch.id}`, metadata: metadataOf(call, batch) };
  if (phase === "refused" || phase === "expired" || phase === "cancelled") {
    const message = batch.refusal?.message ?? `The batch is ${phase}.`;
    return { ...operation, done: true, error: { code: phase === "refused" ? 3 : 1, message } };
  }
  if (phase !== "completed") return operation;
  const inlinedResponses = outcomesOf(call, batch, runner).toReversed().map(resultOf);
  return { ...operation, done: true, response: { inlinedResponses: { inlinedResponses } } };
}

const withBatch =
  (handle: (call: Call, batch: StoredBatch) => Answer) =>
  (call: Call): Answer => {
    const batch = call.kept.batches.get(accountIn(call), call.parameters["id"] ?? "");
    return batch === undefined ? errorAnswer(nativeErrors.forStatus(404)) : handle(call, batch);
  };

/** Batches of Google, whose requests are those of these routes. */
export function batchRoutes(routes: readonly Route[]): readonly Route[] {
  const runner: LineRunner = { routes, errors: nativeErrors };
  const cancel = withBatch((call, batch) => {
    call.kept.batches.cancel(batch);
    return jsonAnswer({});
  });
  const list = (call: Call): Answer => {
    const size = Number(call.query.get("pageSize") ?? 50);
    const from = Number(call.query.get("pageToken") ?? 0);
    const all = call.kept.batches.all(accountIn(call));
    const operations = all.slice(from, from + size).map((batch) => shown(call, batch, runner));
    const hasMore = all.length > from + size;
    return jsonAnswer({ operations, ...(hasMore ? { nextPageToken: String(from + size) } : {}) });
  };
  return [
    { method: "POST", path: `${models}/:model:batchGenerateContent`, handle: create },
    { method: "GET", path, handle: list },
    {
      method: "GET",
      path: `${path}/:id`,
      handle: withBatch((call, batch) => jsonAnswer(shown(call, batch, runner))),
    },
    { method: "POST", path: `${path}/:id:cancel`, handle: cancel },
  ];
}
