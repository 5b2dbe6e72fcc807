/**
 * The results of a slice end the works of its lines, each as its own call's answer would. It may be done again, by another run: a
 * work ends once, and always with the same charge.
 */
import type { Principal } from "../../auth/index.ts";
import type { ParkedWork } from "../../charges/index.ts";
import { isKnownGatewayFault, toGatewayError } from "../../core/index.ts";
import type { BatchApiResult } from "../../providers/index.ts";
import type { BatchDependencies } from "../dependencies.ts";
import { linesOf } from "../files/kept-lines.ts";
import { isFault, readLine } from "../files/read-line.ts";
import { answeredLine, type LineResult, refusedLine } from "../line-result.ts";
import type { BatchSlice, KeptFile, SliceLine, StoredBatch } from "../store.ts";
import { lineId } from "./fill-slice.ts";

/** Lines that are ended at the same time. */
const CHUNK = 8;

interface SettleOptions {
  batch: StoredBatch;
  file: KeptFile;
  slice: BatchSlice;
  principal: Principal;
  results: AsyncIterable<BatchApiResult>;
  /** Whether a line has a result already. */
  hasEnded: (position: number) => boolean;
  /** Called with each result, and waited for. */
  onEnded: (result: LineResult) => Promise<void>;
  signal: AbortSignal;
}

export interface SettledSlice {
  /** The lines that have no answer. */
  unanswered: SliceLine[];
  answered: number;
  /** Those of which the provider has no result at all: it may have called them. */
  missing: number;
}

/** Rejects if the storage fails, or the results cannot be read now: it is then done again. */
export async function settleSlice(deps: BatchDependencies, options: SettleOptions): Promise<SettledSlice> {
  const { batch, slice, results, hasEnded, signal } = options;
  const held = await deps.slices.lines(slice.id, batch.id);
  const waiting = new Map(held.filter(({ position }) => !hasEnded(position)).map((line) => [line.position, line]));
  const bodies = await bodiesOf(deps, options, waiting);
  const before = waiting.size;
  let chunk: Promise<void>[] = [];
  let notCalled = 0;
  for await (const { id, outcome } of results) {
    signal.throwIfAborted();
    const position = Number(id.slice(lineId(0).length - 1));
    const line = id === lineId(position) ? waiting.get(position) : undefined;
    const bytes = bodies.get(position);
    if (line !== undefined && outcome === "not-called") notCalled += 1;
    if (line === undefined || bytes === undefined || outcome === "not-called") continue;
    // A result that stands there twice counts once.
    waiting.delete(position);
    const ending = end(deps, options, { line, bytes, outcome });
    // It may fail before it is waited for.
    ending.catch(() => undefined);
    chunk.push(ending);
    if (chunk.length < CHUNK) continue;
    await Promise.all(chunk);
    chunk = [];
  }
  await Promise.all(chunk);
  return { unanswered: [...waiting.values()], answered: before - waiting.size, missing: waiting.size - notCalled };
}

/** The lines of the input, by their positions. They were in memory once before, when they were sent. */
async function bodiesOf(
  { files, bounds }: BatchDependencies,
  { file, signal }: SettleOptions,
  waiting: ReadonlyMap<number, SliceLine>,
): Promise<Map<number, Buffer>> {
  const bodies = new Map<number, Buffer>();
  if (waiting.size === 0) return bodies;
  for await (const { position, bytes } of linesOf(files, file, bounds.lineBytesMax)) {
    signal.throwIfAborted();
    if (bytes === undefined || !waiting.has(position)) continue;
    bodies.set(position, Buffer.from(bytes));
    if (bodies.size === waiting.size) break;
  }
  return bodies;
}

interface Answered {
  line: SliceLine;
  bytes: Buffer;
  outcome: { status: number; body: unknown };
}

async function end(deps: BatchDependencies, options: SettleOptions, answered: Answered): Promise<void> {
  await options.onEnded(await resultOf(deps, options, answered));
}

async function resultOf(
  deps: BatchDependencies,
  { batch, slice, principal }: SettleOptions,
  { line: { position, work }, bytes, outcome: { status, body } }: Answered,
): Promise<LineResult> {
  const endpoint = deps.endpoints.get(batch.endpoint);
  const read = readLine(bytes, batch);
  if (endpoint === undefined || isFault(read)) throw new Error("a checked line of a batch is unusable");
  const { customId } = read;
  const headers = new Headers(batch.headers);
  headers.set("content-type", "application/json");
  const reply = { status, text: JSON.stringify(body ?? null), keyId: slice.keyId ?? "" };
  try {
    const answer = await endpoint.perform({
      requestId: work.id,
      parent: batch.id,
      principal,
      // Of its hold: their values were stored then.
      names: work,
      headers,
      body: read.body,
      // The answer is there: the end of this run is none of its work.
      client: { signal: new AbortController().signal },
      batched: { kind: "answer", work, reply },
    });
    const text = await new Response(answer.body).text();
    return answeredLine({ position, customId }, { status: answer.status, requestId: work.id, text });
  } catch (reason) {
    return await unreadable(deps, { batch, position, work, customId }, reason);
  }
}

/** The answer is there, and cannot be given to the caller, who does not pay for it then. */
async function unreadable(
  { discard, logger }: BatchDependencies,
  { batch, position, work, customId }: { batch: StoredBatch; position: number; work: ParkedWork; customId: string },
  reason: unknown,
): Promise<LineResult> {
  // The storage, or the end of this process: the line is ended later.
  if (isKnownGatewayFault(reason)) throw reason;
  const error = toGatewayError(reason);
  logger.error({ batch: batch.id, request_id: work.id, err: reason }, "the answer to a line of a batch is unusable");
  await discard(work);
  return refusedLine({ position, customId }, error, { outcome: "failed", requestId: work.id });
}
