/** Parts of answers about batches that several providers have in common. */
import { type JsonObject, objectOf } from "../../../core/index.ts";
import type { BatchApiResult, UpstreamBatch } from "../../batch-api.ts";

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const countOf = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0);

/** A batch with this state; undefined without an id. */
export function batchOf(
  id: unknown,
  state: UpstreamBatch["state"] | undefined,
  { marker, reason }: { marker: unknown; reason?: unknown },
): UpstreamBatch | undefined {
  const known = textOf(id);
  if (known === undefined || state === undefined) return undefined;
  return { id: known, marker: textOf(marker), state, reason: textOf(reason) };
}

/** Codes of lines that were not called. */
const notCalled: ReadonlySet<unknown> = new Set(["batch_expired", "batch_cancelled", "batch_canceled"]);

/** A line of results in OpenAI's format. */
export function readResultLine(result: JsonObject): BatchApiResult | undefined {
  const id = textOf(result["custom_id"]);
  if (id === undefined) return undefined;
  const response = objectOf(result["response"]);
  const status = Number(response?.["status_code"]);
  if (response !== undefined && Number.isInteger(status)) return { id, outcome: { status, body: response["body"] } };
  const error = objectOf(result["error"]);
  if (error === undefined || notCalled.has(error["code"])) return { id, outcome: "not-called" };
  return { id, outcome: { status: 500, body: { error } } };
}
