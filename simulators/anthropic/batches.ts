import { accountOf, bodyOf } from "../shared/batches/line-files.ts";
import { type LineRunner, outcomesOf, refusalOf } from "../shared/batches/run-lines.ts";
import type { BatchLine, LineOutcome, StoredBatch } from "../shared/batches/stored-batches.ts";
import { bearerKey } from "../shared/http.ts";
import { asArray, asObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";

const path = "/anthropic/v1/messages/batches";

const accountIn = ({ headers }: Call): string => accountOf(headers["x-api-key"] ?? bearerKey(headers));

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/;

const wrong = (message: string): Answer =>
  errorAnswer(nativeErrors.forProblem({ kind: "unsupported", field: "requests", message }));

function create(call: Call): Answer {
  const lines = asArray(bodyOf(call)["requests"])
    .map(asObject)
    .map((each): BatchLine => {
      const id = stringOr(each["custom_id"], "");
      return { id, path: "/anthropic/v1/messages", body: asObject(each["params"]) };
    });
  if (lines.length === 0) return wrong("requests: List should have at least 1 item");
  if (lines.some(({ id }) => !idPattern.test(id))) return wrong("requests.custom_id: wrong format");
  const refusal = refusalOf(lines, { needsOneModel: false });
  // Such batches are refused at once, and a word for that there is none.
  if (refusal !== undefined || lines.some(({ body }) => JSON.stringify(body).includes("batch:refuse"))) {
    return wrong(`requests: ${refusal?.message ?? "refused"}`);
  }
  const { batches } = call.kept;
  const batch = batches.add({
    account: accountIn(call),
    id: `msgbatch_01${call.identity.token(`batch ${batches.next()}`, 22)}`,
    body: {},
    lines,
    refusal: undefined,
  });
  return jsonAnswer(shown(call, batch));
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

function isOver(call: Call, batch: StoredBatch): boolean {
  return ["completed", "expired", "cancelled"].includes(call.kept.batches.phaseOf(batch));
}

function shown(call: Call, batch: StoredBatch): JsonObject {
  const { id, createdAt, cancelledAt, lines } = batch;
  const hasEnded = isOver(call, batch);
  const isCanceling = call.kept.batches.phaseOf(batch) === "cancelling";
  return {
    id,
    type: "message_batch",
    processing_status: hasEnded ? "ended" : isCanceling ? "canceling" : "in_progress",
    request_counts: { processing: hasEnded ? 0 : lines.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: timeOf(createdAt),
    expires_at: timeOf(createdAt + 86_400_000),
    ended_at: hasEnded ? timeOf(call.kept.batches.clock.now) : null,
    cancel_initiated_at: cancelledAt === undefined ? null : timeOf(cancelledAt),
    archived_at: null,
    results_url: hasEnded ? `https://api.anthropic.com/v1/messages/batches/${id}/results` : null,
  };
}

const withBatch =
  (handle: (call: Call, batch: StoredBatch) => Answer) =>
  (call: Call): Answer => {
    const batch = call.kept.batches.get(accountIn(call), call.parameters["id"] ?? "");
    return batch === undefined ? errorAnswer(nativeErrors.forStatus(404)) : handle(call, batch);
  };

function resultOf({ id, answer }: LineOutcome): JsonObject {
  if (answer === "expired") return { custom_id: id, result: { type: "expired" } };
  if (answer === "cancelled") return { custom_id: id, result: { type: "canceled" } };
  const { status, body } = answer;
  const result = status < 400 ? { type: "succeeded", message: body } : { type: "errored", error: body };
  return { custom_id: id, result };
}

function asBatch(body: JsonObject): JsonObject {
  return { ...body, usage: { ...asObject(body["usage"]), service_tier: "batch" } };
}

function list(call: Call): Answer {
  const data = call.kept.batches.all(accountIn(call)).map((batch) => shown(call, batch));
  const ids = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
  return jsonAnswer({ data, has_more: false, ...ids });
}

/** Batches of Messages. */
export function batchRoutes(routes: readonly Route[]): readonly Route[] {
  const runner: LineRunner = { routes, errors: nativeErrors, inBatch: asBatch };
  const cancel = withBatch((call, batch) => {
    call.kept.batches.cancel(batch);
    return jsonAnswer(shown(call, batch));
  });
  const results = withBatch((call, batch) => {
    if (!isOver(call, batch)) return errorAnswer(nativeErrors.forStatus(404));
    const text = outcomesOf(call, batch, runner)
      .map((each) => `${JSON.stringify(resultOf(each))}\n`)
      .join("");
    return { kind: "bytes", contentType: "application/x-jsonl", bytes: Buffer.from(text) };
  });
  const remove = withBatch((call, batch) => {
    if (!isOver(call, batch)) return wrong("The batch has not ended.");
    call.kept.batches.delete(batch.id);
    return jsonAnswer({ id: batch.id, type: "message_batch_deleted" });
  });
  return [
    { method: "POST", path, handle: create },
    { method: "GET", path, handle: list },
    { method: "GET", path: `${path}/:id`, handle: withBatch((call, batch) => jsonAnswer(shown(call, batch))) },
    { method: "DELETE", path: `${path}/:id`, handle: remove },
    { method: "GET", path: `${path}/:id/results`, handle: results },
    { method: "POST", path: `${path}/:id/cancel`, handle: cancel },
  ];
}
