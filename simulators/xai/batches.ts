import { accountOf, bodyOf, readLines } from "../shared/batches/line-files.ts";
import { type LineRunner, outcomesOf, refusalOf, refused } from "../shared/batches/run-lines.ts";
import { type LineOutcome, type StoredBatch, wordIn } from "../shared/batches/stored-batches.ts";
import { bearerKey } from "../shared/http.ts";
import { asObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { xaiErrors, xaiNotFound } from "./errors.ts";

const path = "/xai/v1/batches";

/** The names of answers, by the addresses of their requests. */
const kinds: Readonly<Record<string, string>> = {
  "/xai/v1/chat/completions": "chat_get_completion",
  "/xai/v1/responses": "responses",
};

const accountIn = ({ headers }: Call): string => accountOf(bearerKey(headers));

const missing = (field: string): Answer => errorAnswer(xaiErrors.forProblem({ kind: "missing", field }));

/** The address and the model are those of each line. */
function create(call: Call, runner: LineRunner): Answer {
  const { name, input_file_id: fileId } = bodyOf(call);
  if (typeof name !== "string") return missing("name");
  const account = accountIn(call);
  const file = call.kept.files.get(account, stringOr(fileId, ""));
  if (file === undefined) return missing("input_file_id");
  const read = readLines(file.bytes, (line) => {
    const address = `/xai${String(line["url"])}`;
    const id = stringOr(line["custom_id"], "");
    return address in kinds ? { id, path: address, body: asObject(line["body"]) } : undefined;
  });
  if ("refusal" in read) return missing("input_file_id");
  const { lines } = read;
  const asked = wordIn(lines) === "refuse" ? refused("refused", "Cancelled by xAI.") : undefined;
  const { batches } = call.kept;
  const batch = batches.add({
    account,
    id: `batch_${call.identity.uuid(`batch ${batches.next()}`)}`,
    body: { name },
    lines,
    refusal: asked ?? refusalOf(lines, { needsOneModel: false }),
  });
  return jsonAnswer(shown(call, batch, runner));
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

function shown(call: Call, batch: StoredBatch, runner: LineRunner): JsonObject {
  const phase = call.kept.batches.phaseOf(batch);
  const isOver = phase === "completed" || phase === "expired" || phase === "cancelled";
  const outcomes = isOver ? outcomesOf(call, batch, runner) : [];
  const count = (test: (outcome: LineOutcome) => boolean): number => outcomes.filter(test).length;
  const total = phase === "validating" ? 0 : batch.lines.length;
  const { cancelledAt, refusal, createdAt } = batch;
  return {
    batch_id: batch.id,
    ...batch.body,
    create_time: timeOf(createdAt),
    expire_time: timeOf(createdAt + 86_400_000),
    ...(cancelledAt === undefined ? {} : { cancel_time: timeOf(cancelledAt) }),
    ...(phase === "refused" ? { cancel_time: timeOf(createdAt), cancel_by_xai_message: refusal?.message } : {}),
    state: {
      num_requests: total,
      num_pending: isOver || phase === "refused" ? 0 : total,
      num_success: count(({ answer }) => typeof answer === "object" && answer.status < 400),
      num_error: count(({ answer }) => typeof answer === "object" && answer.status >= 400),
      num_cancelled: phase === "refused" ? total : count(({ answer }) => typeof answer !== "object"),
    },
  };
}

const withBatch =
  (handle: (call: Call, batch: StoredBatch) => Answer) =>
  (call: Call): Answer => {
    const batch = call.kept.batches.get(accountIn(call), call.parameters["id"] ?? "");
    return batch === undefined ? errorAnswer(xaiNotFound("Batch not found")) : handle(call, batch);
  };

function resultOf({ lines }: StoredBatch, { id, answer }: LineOutcome): JsonObject[] {
  if (typeof answer !== "object") return [];
  if (answer.status >= 400) {
    const error = { code: answer.status, message: JSON.stringify(answer.body) };
    return [{ batch_request_id: id, batch_result: { error } }];
  }
  const kind = kinds[lines.find((line) => line.id === id)?.path ?? ""] ?? "response";
  return [{ batch_request_id: id, batch_result: { response: { [kind]: answer.body } } }];
}

/** One page, whose token is the number of its first result. */
function page(call: Call, all: readonly unknown[], name: string): Answer {
  const limit = Number(call.query.get("limit") ?? 100);
  const from = Number(call.query.get("pagination_token") ?? 0);
  const next = from + limit < all.length ? String(from + limit) : null;
  return jsonAnswer({ [name]: all.slice(from, from + limit), pagination_token: next });
}

/** A batch costs less. */
function halfCost(body: JsonObject): JsonObject {
  const usage = asObject(body["usage"]);
  const ticks = Number(usage["cost_in_usd_ticks"]);
  if (!Number.isFinite(ticks)) return body;
  return { ...body, usage: { ...usage, cost_in_usd_ticks: Math.round(ticks / 2) } };
}

/** Batches of xAI, whose requests are those of these routes. */
export function batchRoutes(routes: readonly Route[]): readonly Route[] {
  const runner: LineRunner = { routes, errors: xaiErrors, inBatch: halfCost };
  const retrieve = withBatch((call, batch) => jsonAnswer(shown(call, batch, runner)));
  const cancel = withBatch((call, batch) => {
    call.kept.batches.cancel(batch);
    return jsonAnswer(shown(call, batch, runner));
  });
  const results = withBatch((call, batch) => {
    const phase = call.kept.batches.phaseOf(batch);
    const isOver = phase === "completed" || phase === "expired" || phase === "cancelled";
    const all = isOver ? outcomesOf(call, batch, runner).flatMap((each) => resultOf(batch, each)) : [];
    return page(call, all, "results");
  });
  const list = (call: Call): Answer => {
    const all = call.kept.batches.all(accountIn(call));
    return page(
      call,
      all.map((batch) => shown(call, batch, runner)),
      "batches",
    );
  };
  return [
    { method: "POST", path, handle: (call) => create(call, runner) },
    { method: "GET", path, handle: list },
    { method: "GET", path: `${path}/:id`, handle: retrieve },
    { method: "POST", path: `${path}/:id:cancel`, handle: cancel },
    { method: "GET", path: `${path}/:id/results`, handle: results },
  ];
}
