import { FaultSpecError, noFaults, parseFaults, splitModel } from "../faults.ts";
import { matchPath } from "../http.ts";
import { identityOf } from "../identity.ts";
import type { JsonObject } from "../json.ts";
import { type Answer, type Call, type ErrorAnswer, isMissingModel, type ProviderErrors, type Route } from "../types.ts";
import type { BatchLine, LineOutcome, StoredBatch } from "./stored-batches.ts";

/** How the requests of batches are answered: by the provider's own routes. */
export interface LineRunner {
  readonly routes: readonly Route[];
  readonly errors: ProviderErrors;
  /** The answer as it is in a batch, such as at another price. */
  readonly inBatch?: (body: JsonObject) => JsonObject;
}

/** The results of an ended batch, in another order than its requests. Of one that did not come to its end, every second request was called. */
export function outcomesOf(call: Call, batch: StoredBatch, runner: LineRunner): readonly LineOutcome[] {
  const phase = call.kept.batches.phaseOf(batch);
  batch.outcomes ??= batch.lines
    .map((line, index): LineOutcome => {
      const isCalled = phase === "completed" || index % 2 === 0;
      if (isCalled) return { id: line.id, answer: answerOf(call, line, runner) };
      return { id: line.id, answer: phase === "expired" ? "expired" : "cancelled" };
    })
    .toReversed();
  return batch.outcomes;
}

function answerOf(
  call: Call,
  { id, path, body }: BatchLine,
  { routes, errors, inBatch = (own) => own }: LineRunner,
): { status: number; body: unknown } {
  const named = typeof body["model"] === "string" ? splitModel(body["model"]) : splitModel("");
  const own = named.spec === null ? body : { ...body, model: named.model };
  const found = routeOf(routes, path);
  if (found === undefined) return errors.routeNotFound("POST", path);
  const inPath = splitModel(found.parameters["model"] ?? "");
  const faults = readFaults(named.spec ?? inPath.spec);
  if (faults === undefined) return errors.forStatus(400);
  if (faults.status !== null) return errors.forStatus(faults.status);
  const bytes = Buffer.from(JSON.stringify(own));
  if (bytes.includes("line:fail")) return errors.forStatus(400);
  const line: Call = {
    ...call,
    method: "POST",
    path,
    parameters: inPath.spec === null ? found.parameters : { ...found.parameters, model: inPath.model },
    query: new URLSearchParams(),
    body: own,
    form: null,
    bytes,
    identity: identityOf(path, bytes, id),
    faults,
  };
  const answer = found.route.handle(line);
  return wholeOf(answer, inBatch) ?? errors.forStatus(500);
}

function readFaults(spec: string | null) {
  try {
    return spec === null ? noFaults : parseFaults(spec);
  } catch (error) {
    if (error instanceof FaultSpecError) return undefined;
    throw error;
  }
}

function routeOf(routes: readonly Route[], path: string) {
  for (const route of routes) {
    const parameters = route.method === "POST" ? matchPath(route.path, path) : null;
    if (parameters !== null) return { route, parameters };
  }
  return undefined;
}

function wholeOf(answer: Answer, inBatch: (body: JsonObject) => JsonObject): ErrorAnswer | undefined {
  if (answer.kind !== "json") return undefined;
  const { status, body } = answer;
  return { status, body: status < 300 ? inBatch(body as JsonObject) : body };
}

/** Why no batch can be made of these requests; undefined if one can. */
export function refusalOf(
  lines: readonly BatchLine[],
  { needsOneModel }: { needsOneModel: boolean },
): StoredBatch["refusal"] {
  const ids = new Set<string>();
  for (const [index, { id }] of lines.entries()) {
    if (ids.has(id)) return refused("duplicate_custom_id", "The custom_id stands twice.", index + 1);
    ids.add(id);
  }
  const models = new Set(lines.map(({ body }) => String(body["model"])));
  if (needsOneModel && models.size > 1) return refused("mismatched_model", "The models differ.", 1);
  const streamed = lines.findIndex(({ body }) => body["stream"] === true);
  if (streamed !== -1) return refused("invalid_request", "A batch has no streams.", streamed + 1);
  const missing = lines.findIndex(({ body }) => isMissingModel(String(body["model"])));
  if (missing !== -1 && needsOneModel) return refused("model_not_found", "There is no such model.", missing + 1);
  return undefined;
}

export function refused(
  code: string,
  message: string,
  line: number | null = null,
): NonNullable<StoredBatch["refusal"]> {
  return { code, message, line };
}
