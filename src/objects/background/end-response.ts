/** The end of a response in the background: it is stored like others, then its last event and its record. */
import { type JsonObject, limits, parseObject } from "../../core/index.ts";
import type { BackgroundDependencies } from "./dependencies.ts";
import type { BackgroundKey, BackgroundResponse } from "./store.ts";

export type ResponseEndDependencies = Pick<BackgroundDependencies, "background" | "responses"> & {
  work: Pick<BackgroundDependencies["work"], "clock">;
};

interface ResponseEnd {
  response: JsonObject;
  /** The number of the last event. */
  number: number;
  /** The id of the key that made it, of a response that its upstream stores. */
  keyId?: string;
}

/** Stores the end of a response. May be repeated; rejects if the storage does. The first end counts. */
export async function endResponse(
  { background, responses, work: { clock } }: ResponseEndDependencies,
  record: BackgroundResponse,
  { response, number, keyId }: ResponseEnd,
): Promise<void> {
  const { id, owner, provider, model, previousId, input, createdAt } = record;
  const content = keyId === undefined ? { input, response: JSON.stringify(response) } : undefined;
  const expiresAt = createdAt + limits.responseTtlMs;
  // A complete one may be there already: then this changes nothing.
  await responses.put({ id, owner, provider, model, createdAt, expiresAt, previousId, keyId, content });
  const { status } = response;
  // OpenAI has no event of its own for a cancelled one.
  const type = `response.${status === "cancelled" ? "failed" : String(status)}`;
  const event = JSON.stringify({ type, sequence_number: number, response });
  await background.append(record, { first: number, last: number, events: event });
  const endedAt = clock();
  await background.finish(record, { response, endedAt, keptUntil: endedAt + limits.backgroundEventsTtlMs });
}

/** The response as it is after a failure. */
export function failed(response: JsonObject, error: { code: string; message: string }): JsonObject {
  return { ...response, status: "failed", error };
}

/** Ends a response whose process does not run it any more: as it was stored if it is complete, else as failed. */
export async function endLost(deps: ResponseEndDependencies, key: BackgroundKey): Promise<void> {
  const { background, responses, work } = deps;
  const record = await background.find(key, work.clock());
  if (record === undefined || record.endedAt !== undefined) return;
  const stored = await responses.find(record.id, record.owner, work.clock());
  const number = (await background.lastNumber(key)) + 1;
  const complete = (): JsonObject => parseObject(stored?.content?.response ?? "") ?? asComplete(record);
  const response = stored === undefined ? lost(record) : complete();
  await endResponse(deps, record, { response, number });
}

function lost({ response, isCancelled }: BackgroundResponse): JsonObject {
  if (isCancelled) return { ...response, status: "cancelled" };
  return failed(response, { code: "server_error", message: "The gateway's process that ran this response has ended." });
}

/** Of a response that its upstream stores, and returns when it is looked up. */
const asComplete = ({ response }: BackgroundResponse): JsonObject => ({ ...response, status: "completed" });
