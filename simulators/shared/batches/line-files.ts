import { asObject, isObject, type JsonObject, parseJson } from "../json.ts";
import type { Call } from "../types.ts";
import { type LineRunner, outcomesOf, refused } from "./run-lines.ts";
import type { BatchLine, LineOutcome, StoredBatch } from "./stored-batches.ts";

/** The requests in an uploaded file, or why there can be none. */
export type ReadLines =
  | { readonly lines: readonly BatchLine[] }
  | { readonly refusal: NonNullable<StoredBatch["refusal"]> };

/** Reads JSON lines. `toLine` returns undefined for a line that has not the provider's form. */
export function readLines(bytes: Uint8Array, toLine: (line: JsonObject) => BatchLine | undefined): ReadLines {
  const texts = Buffer.from(bytes).toString("utf8").split("\n");
  const lines: BatchLine[] = [];
  for (const [index, text] of texts.entries()) {
    if (text.trim() === "") continue;
    const parsed = parseJson(text);
    const line = isObject(parsed) ? toLine(parsed) : undefined;
    if (line === undefined || line.id === "" || !isObject(line.body)) {
      return { refusal: { code: "invalid_json_line", message: "This line is not usable.", line: index + 1 } };
    }
    lines.push(line);
  }
  if (lines.length === 0) return { refusal: refused("empty_file", "The file has no lines.") };
  return { lines };
}

/** Lines of results in OpenAI's format: those with answers below 400, and the others. */
function resultFiles(outcomes: readonly LineOutcome[]): { output: string; error: string } {
  let [output, error] = ["", ""];
  for (const outcome of outcomes) {
    const line = `${JSON.stringify(resultLine(outcome))}\n`;
    const isGood = typeof outcome.answer === "object" && outcome.answer.status < 400;
    if (isGood) output += line;
    else if (outcome.answer !== "cancelled") error += line;
  }
  return { output, error };
}

function resultLine({ id, answer }: LineOutcome): JsonObject {
  const head = { id: `batch_req_${id}`, custom_id: id };
  if (typeof answer === "object") {
    return {
      ...head,
      response: { status_code: answer.status, request_id: `req_${id}`, body: answer.body },
      error: null,
    };
  }
  return { ...head, response: null, error: { code: "batch_expired", message: "This request was not executed." } };
}

const countLines = (text: string): number => text.split("\n").length - 1;

/** The files of a batch's results, which it has once it has ended, and how many lines each has. */
export function resultsOf(call: Call, batch: StoredBatch, runner: LineRunner) {
  const phase = call.kept.batches.phaseOf(batch);
  const hasResults = phase === "completed" || phase === "expired" || phase === "cancelled";
  const outcomes = hasResults ? outcomesOf(call, batch, runner) : [];
  const { output, error } = resultFiles(outcomes);
  return {
    files: hasResults ? keepResults(call, batch, outcomes) : undefined,
    counts: { output: countLines(output), error: countLines(error) },
  };
}

/** Stores the results of an ended batch as files, once. */
function keepResults(
  call: Call,
  batch: StoredBatch,
  outcomes: readonly LineOutcome[],
): NonNullable<StoredBatch["files"]> {
  if (batch.files !== undefined) return batch.files;
  const { output, error } = resultFiles(outcomes);
  const keep = (kind: string, text: string): string | null => {
    if (text === "") return null;
    const id = `file-${batch.id.slice(-12)}-${kind}`;
    const bytes = Buffer.from(text);
    const body = { object: "file", id, purpose: "batch_output", filename: `${kind}.jsonl`, bytes: bytes.length };
    call.kept.files.add({ account: batch.account, id, body, contentType: "application/jsonl", bytes });
    return id;
  };
  batch.files = { output: keep("output", output), error: keep("error", error) };
  return batch.files;
}

/** The request's account: its API key without faults. */
export function accountOf(key: string | null | undefined): string {
  return (key ?? "").split("+", 1)[0] ?? "";
}

export const bodyOf = (call: Call): JsonObject => asObject(call.body);
