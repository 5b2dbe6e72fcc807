/** The call of one line. Its retry key is the line's place in its batch: however often it is asked, it is charged once. */
import type { Principal } from "../auth/index.ts";
import { type GatewayError, requestId, toGatewayError } from "../core/index.ts";
import type { BatchDependencies } from "./dependencies.ts";
import { answeredLine, type LineResult, refusedLine } from "./line-result.ts";
import { isFault, readLine } from "./files/read-line.ts";
import type { StoredBatch } from "./store.ts";

/** Calls of one line whose upstream fails. */
const FAILURES_MAX = 3;

const MS_PER_SECOND = 1_000;

export interface PendingLine {
  position: number;
  bytes: Buffer;
  /** Calls that failed upstream. */
  failures: number;
}

/** `busy`: it is called again later. `unpaid`: there were no credits for its hold. */
export type LineEnd =
  | { kind: "ended"; result: LineResult }
  | { kind: "busy"; afterMs: number | undefined }
  | { kind: "running" }
  | { kind: "failed-upstream" }
  | { kind: "unpaid"; result: LineResult };

/** Resolves for every failure of the call; rejects only if the line cannot be read. */
export async function performLine(
  { endpoints, environment, logger }: Pick<BatchDependencies, "endpoints" | "environment" | "logger">,
  batch: StoredBatch,
  { line, principal, client }: { line: PendingLine; principal: Principal; client: { signal: AbortSignal } },
): Promise<LineEnd> {
  const { position, bytes, failures } = line;
  const read = readLine(bytes, batch);
  const endpoint = endpoints.get(batch.endpoint);
  if (isFault(read) || endpoint === undefined) throw new Error("a checked line of a batch is unusable");
  const { customId, body } = read;
  const id = requestId(environment.clock, environment.randomBytes);
  const headers = new Headers(batch.headers);
  headers.set("content-type", "application/json");
  headers.set("idempotency-key", `${batch.id}:${position}`);
  try {
    const request = { requestId: id, parent: batch.id, principal, headers, body, client };
    const answer = await endpoint.perform(request);
    const text = await new Response(answer.body).text();
    const { status } = answer;
    if (status === 429) return { kind: "busy", afterMs: askedMs(answer.headers["retry-after"]) };
    if (status >= 500 && failures < FAILURES_MAX - 1) return { kind: "failed-upstream" };
    return { kind: "ended", result: answeredLine({ position, customId }, { status, requestId: id, text }) };
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error !== thrown) logger.error({ batch: batch.id, request_id: id, err: thrown }, "a line of a batch failed");
    return refused(error, line, { customId, requestId: id, kind: batch.kind });
  }
}

/** The end of a line whose call was refused. */
export function refused(
  error: GatewayError,
  { position, failures }: PendingLine,
  { customId, requestId: id, kind }: { customId: string; requestId: string; kind: StoredBatch["kind"] },
): LineEnd {
  const { code, status, retryAfterSeconds: seconds } = error;
  // The process that called it has died, and its hold has not ended yet.
  if (code === "idempotency_key_in_use") return { kind: "running" };
  if (status === 429 || status === 503) {
    return { kind: "busy", afterMs: seconds === undefined ? undefined : seconds * MS_PER_SECOND };
  }
  if (status >= 500 && failures < FAILURES_MAX - 1) return { kind: "failed-upstream" };
  const line = { position, customId };
  const result = refusedLine(line, error, { outcome: "failed", requestId: id });
  if (code === "insufficient_credits") return { kind: "unpaid", result };
  if (kind === "messages") return { kind: "ended", result };
  // As the route itself would answer.
  const text = JSON.stringify({
    error: { message: error.message, type: error.type, code, param: error.param ?? null },
  });
  return { kind: "ended", result: answeredLine(line, { status, requestId: id, text }) };
}

function askedMs(header: string | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * MS_PER_SECOND : undefined;
}
