/**
 * A slice is filled: lines are planned like any calls, held at the price of batches, and left to the slice, some of them in one
 * commit at a time. The provider knows nothing yet: if this process dies, the holds are given back, and the lines are held again.
 */
import { setImmediate } from "node:timers/promises";
import type { Principal } from "../../auth/index.ts";
import type { BatchedRequest, HeldCall, ParkedWork } from "../../charges/index.ts";
import { GatewayError, requestId, toGatewayError } from "../../core/index.ts";
import type { BatchApi } from "../../providers/index.ts";
import type { BatchDependencies, BatchEndpoint } from "../dependencies.ts";
import { isFault, readLine } from "../files/read-line.ts";
import type { LineResult } from "../line-result.ts";
import { type PendingLine, refused } from "../perform-line.ts";
import type { BatchSlice, StoredBatch } from "../store.ts";

/** Lines of a slice. */
const LINES_MAX = 1_000;

/** Bytes of a slice's lines, which are in memory until they are sent. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Lines that are held at the same time. */
const CHUNK = 16;

/** Holds of lines are given back if a slice has not ended so long after its batch has expired. */
const HELD_MS_MAX = 3 * 24 * 3_600_000;

export const heldUntil = ({ expiresAt }: Pick<StoredBatch, "expiresAt">): number => expiresAt + HELD_MS_MAX;

/** A line of a provider's batch has this id. */
export const lineId = (position: number): string => `line-${position}`;

/** Why a slice is not filled any further. */
type FillEnd = "full" | "no more lines" | "unpaid" | "busy" | "stopped";

export interface FilledSlice {
  slice: BatchSlice;
  /** Each as the provider takes it. */
  lines: string[];
  ended: FillEnd;
  /** After which time it may be less busy, in milliseconds. */
  afterMs: number | undefined;
  /** Gives back the memory. */
  free: () => void;
}

interface FillOptions {
  batch: StoredBatch;
  slice: Omit<BatchSlice, "model" | "path">;
  api: BatchApi;
  principal: Principal;
  /** The lines that neither have a result nor are held, in order; a line that could not be held is put back. */
  source: LineSource;
  /** Called with the position of each line once it is held. */
  onHeld: (position: number) => void;
  /** Called with the result of a line that no provider is asked for. */
  onEnded: (result: LineResult) => void;
  signal: AbortSignal;
}

/** Lines one by one, of which the last ones can be put back. */
export class LineSource {
  readonly #lines: AsyncGenerator<PendingLine, undefined, undefined>;
  readonly #again: PendingLine[] = [];
  /** Every line before this position has been taken, and not been put back. */
  next: number;
  isEmpty = false;

  constructor(lines: AsyncGenerator<PendingLine, undefined, undefined>, next: number) {
    this.#lines = lines;
    this.next = next;
  }

  async take(count: number): Promise<PendingLine[]> {
    const taken = this.#again.splice(0, count);
    while (taken.length < count && !this.isEmpty) {
      const { done, value } = await this.#lines.next();
      if (done === true) this.isEmpty = true;
      else taken.push(value);
    }
    const last = taken.at(-1);
    if (last !== undefined) this.next = last.position + 1;
    if (this.isEmpty && this.#again.length === 0 && last === undefined) this.next = Number.MAX_SAFE_INTEGER;
    return taken;
  }

  putBack(lines: readonly PendingLine[]): void {
    const [first] = lines;
    if (first === undefined) return;
    this.#again.unshift(...lines);
    this.next = first.position;
  }
}

/** The end of one line's turn. */
type Turn =
  | { kind: "held"; line: PendingLine; work: ParkedWork; request: BatchedRequest }
  /** It is called by the gateway itself, later. */
  | { kind: "other" }
  | { kind: "ended"; result: LineResult }
  | { kind: "unpaid" | "busy"; line: PendingLine; afterMs: number | undefined };

class Filling {
  readonly lines: string[] = [];
  slice: BatchSlice;
  ended: FillEnd = "full";
  afterMs: number | undefined;
  #bytes = 0;
  readonly #deps: BatchDependencies;
  readonly #options: FillOptions;
  readonly #endpoint: BatchEndpoint;
  readonly #otherwise = new GatewayError("unsupported_operation", "This line is no part of its provider's batches.");

  constructor(deps: BatchDependencies, options: FillOptions, endpoint: BatchEndpoint) {
    this.#deps = deps;
    this.#options = options;
    this.#endpoint = endpoint;
    this.slice = { ...options.slice, model: "", path: "" };
  }

  async fill(): Promise<void> {
    const { api, source, signal } = this.#options;
    const linesMax = Math.min(LINES_MAX, api.linesMax);
    const bytesMax = Math.min(BYTES_MAX, api.bytesMax);
    while (this.lines.length < linesMax && this.#bytes < bytesMax) {
      if (signal.aborted) return void (this.ended = "stopped");
      const taken = await source.take(Math.min(CHUNK, linesMax - this.lines.length));
      if (taken.length === 0) this.ended = "no more lines";
      if (!(await this.#chunk(taken)) || taken.length === 0) return;
      await setImmediate();
    }
  }

  /** Holds these lines. Resolves with whether further ones may be held. */
  async #chunk(taken: readonly PendingLine[]): Promise<boolean> {
    const { source } = this.#options;
    const room = this.#roomFor(taken);
    source.putBack(taken.slice(room));
    if (room < taken.length && room === 0) this.ended = this.lines.length === 0 ? "busy" : "full";
    const saved = Promise.withResolvers<void>();
    // Rejected before anybody waits for it if nothing was held.
    saved.promise.catch(() => undefined);
    const calls = taken.slice(0, room).map((line) => this.#hold(line, saved.promise));
    const turns = await Promise.all(calls.map(({ turn }) => turn));
    const isStored = await this.#store(turns).then(
      (stored) => {
        if (stored) saved.resolve();
        else saved.reject(new Error("another run has the batch"));
        return stored;
      },
      (reason: unknown) => {
        saved.reject(reason);
        throw reason;
      },
    );
    await Promise.allSettled(calls.map(({ performed }) => performed));
    if (!isStored) this.ended = "stopped";
    return isStored && room === taken.length && this.#note(turns);
  }

  /** How many of these lines there is memory for. */
  #roomFor(lines: readonly PendingLine[]): number {
    const { memory } = this.#deps;
    for (const [index, { bytes }] of lines.entries()) {
      if (!memory.take(bytes.length)) return index;
      this.#bytes += bytes.length;
    }
    return lines.length;
  }

  free(): void {
    this.#deps.memory.take(-this.#bytes);
    this.#bytes = 0;
  }

  #hold(line: PendingLine, saved: Promise<void>): { turn: Promise<Turn>; performed: Promise<unknown> } {
    const { batch, principal, signal } = this.#options;
    const { clock, randomBytes } = this.#deps.environment;
    const read = readLine(line.bytes, batch);
    if (isFault(read)) throw new Error("a checked line of a batch is unusable");
    const { promise: turn, resolve } = Promise.withResolvers<Turn>();
    const id = requestId(clock, randomBytes);
    const leave = async ({ request, handOver }: HeldCall): Promise<void> => {
      if (!this.#accepts(request)) throw this.#otherwise;
      await handOver(heldUntil(batch), (work) => {
        resolve({ kind: "held", line, work, request });
        return saved;
      });
    };
    const headers = new Headers(batch.headers);
    headers.set("content-type", "application/json");
    const performed = this.#endpoint
      .perform({
        requestId: id,
        parent: batch.id,
        principal,
        headers,
        body: read.body,
        client: { signal },
        batched: { kind: "hold", otherwise: this.#otherwise, leave },
      })
      .catch((reason: unknown) => resolve(this.#refusal(reason, line, { customId: read.customId, requestId: id })));
    return { turn, performed };
  }

  #refusal(reason: unknown, line: PendingLine, call: { customId: string; requestId: string }): Turn {
    if (reason === this.#otherwise) return { kind: "other" };
    const { logger } = this.#deps;
    const { id: batch, kind } = this.#options.batch;
    const error = toGatewayError(reason);
    if (error !== reason) logger.error({ batch, request_id: call.requestId, err: reason }, "a line of a batch failed");
    const end = refused(error, line, { ...call, kind });
    switch (end.kind) {
      case "ended":
        return { kind: "ended", result: end.result };
      case "unpaid":
        return { kind: "unpaid", line, afterMs: undefined };
      case "busy":
        return { kind: "busy", line, afterMs: end.afterMs };
      default:
        return { kind: "other" };
    }
  }

  /** Whether the line can be in one batch with the others. */
  #accepts({ model, path }: BatchedRequest): boolean {
    const { needsOneModel } = this.#options.api;
    const { slice } = this;
    if (slice.path === "") this.slice = { ...slice, model, path };
    const { path: own, model: first } = this.slice;
    return !needsOneModel || (own === path && first === model);
  }

  async #store(turns: readonly Turn[]): Promise<boolean> {
    const { batch, source, onEnded, onHeld } = this.#options;
    const held = turns.flatMap((turn) => (turn.kind === "held" ? [turn] : []));
    for (const turn of turns) if (turn.kind === "ended") onEnded(turn.result);
    source.putBack(turns.flatMap((turn) => (turn.kind === "unpaid" || turn.kind === "busy" ? [turn.line] : [])));
    const lines = held.map(({ line: { position }, work }) => ({ position, work }));
    const next = Math.min(source.next, batch.total);
    if (!(await this.#deps.slices.hold(batch, this.slice, { lines, next }))) return false;
    for (const { line, request } of held) {
      onHeld(line.position);
      this.lines.push(this.#options.api.lineOf({ ...request, id: lineId(line.position) }));
    }
    return true;
  }

  #note(turns: readonly Turn[]): boolean {
    for (const turn of turns) {
      if (turn.kind !== "unpaid" && turn.kind !== "busy") continue;
      if (this.ended !== "unpaid") this.ended = turn.kind;
      this.afterMs = turn.afterMs ?? this.afterMs;
    }
    return this.ended === "full" || this.ended === "no more lines";
  }
}

/** Fills a slice. Rejects if the storage fails; the slice is then given back by the next run. */
export async function fillSlice(deps: BatchDependencies, options: FillOptions): Promise<FilledSlice> {
  const endpoint = deps.endpoints.get(options.batch.endpoint);
  if (endpoint === undefined) throw new Error("a batch has no endpoint");
  const filling = new Filling(deps, options, endpoint);
  try {
    await filling.fill();
  } catch (reason) {
    filling.free();
    throw reason;
  }
  const { slice, lines, ended, afterMs } = filling;
  return { slice, lines, ended, afterMs, free: () => filling.free() };
}
