/** The slices of one batch as one run of it has them, and the changes that are stored at once. */
import type { BatchDependencies } from "../dependencies.ts";
import type { LineResult } from "../line-result.ts";
import { ResultWriter } from "../result-writer.ts";
import type { BatchSlice, SliceLine, StoredBatch } from "../store.ts";

/** The growth of the pauses between two look-ups of a slice, and the longest. */
const ASK_GROWTH = 1.5;
const ASK_MS_MAX = 60_000;

/** A provider that loses more slices of a batch gets no further ones: each may be billed to the operator. */
const LOST_MAX = 1;

/** The first pause. */
export const ASK_MS = 2_000;

export class SliceBook {
  readonly batch: StoredBatch;
  slices: readonly BatchSlice[] = [];
  /** The positions of lines that a slice holds. */
  readonly held = new Set<number>();
  /** The positions of lines that have a result. */
  readonly ended = new Set<number>();
  /** Whether further lines go to the provider. */
  isNative: boolean;
  /** All lines before this position have gone there, or cannot. */
  next: number;
  /** Whether another run has the batch. */
  isLost = false;
  /** Slices that the provider has lost. */
  lost: number;
  /** Until when no further slice is sent. */
  busyUntil = 0;
  readonly #deps: BatchDependencies;
  readonly #writer: ResultWriter;
  #flushing: Promise<void> = Promise.resolve();

  constructor(deps: BatchDependencies, batch: StoredBatch, lost: number) {
    this.batch = batch;
    this.lost = lost;
    this.isNative = batch.nativeProvider !== undefined;
    this.next = batch.nativeNext;
    this.#deps = deps;
    this.#writer = new ResultWriter(deps.batches, batch, () => deps.ticker.now());
  }

  async load(): Promise<void> {
    const { slices, batches } = this.#deps;
    const { batch } = this;
    this.slices = await slices.of(batch.id);
    if (!this.isNative && this.slices.length === 0) return;
    for (const position of await batches.ended(batch)) this.ended.add(position);
    for (const position of await slices.positions(batch.id)) this.held.add(position);
  }

  get now(): number {
    return this.#deps.environment.clock();
  }

  add(slice: BatchSlice): void {
    this.slices = [...this.slices, slice];
  }

  async change(slice: BatchSlice): Promise<void> {
    if (!(await this.#deps.slices.change(this.batch, slice))) return this.lose();
    this.slices = this.slices.map((each) => (each.id === slice.id ? slice : each));
  }

  /** The slice is looked up again, ever later; `reason` is what has failed. */
  async askLater(slice: BatchSlice, reason: string | undefined): Promise<void> {
    const asks = slice.asks + 1;
    const afterMs = Math.min(ASK_MS * ASK_GROWTH ** asks, ASK_MS_MAX);
    const ids = { batch: this.batch.id, slice: slice.id };
    if (reason !== undefined) this.#deps.logger.warn({ ...ids, reason }, "a slice of a batch is looked up later");
    await this.change({ ...slice, asks, askAt: this.now + Math.round(afterMs) });
  }

  /** Stores the result with others. */
  async end(result: LineResult): Promise<void> {
    this.note(result);
    if (this.#writer.isDue) await this.flush();
  }

  /** A result that is stored later. */
  note(result: LineResult): void {
    this.ended.add(result.position);
    this.#writer.add(result);
  }

  /** Several lines end at the same time, and the writer writes one after the other. */
  flush(): Promise<void> {
    const flushed = this.#flushAfter(this.#flushing);
    // A failure is that of its own caller; the results wait for the next one.
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async #flushAfter(earlier: Promise<void>): Promise<void> {
    await earlier;
    if (!(await this.#writer.flush())) this.lose();
  }

  /** Gives back the lines of a slice that its provider does not know. */
  async giveBack(slice: BatchSlice): Promise<void> {
    await this.remove(slice, await this.#deps.slices.lines(slice.id, this.batch.id));
  }

  /** The provider refused the slice as a whole. If it runs none of the others, the gateway calls the lines itself. */
  async refuse(slice: BatchSlice, reason: string | undefined): Promise<void> {
    const ids = { batch: this.batch.id, slice: slice.id, provider: slice.provider };
    this.#deps.logger.warn({ ...ids, reason }, "a provider has refused a slice of a batch");
    await this.giveBack(slice);
    this.pause(ASK_MS_MAX);
    if (this.slices.every(({ state }) => state !== "running")) await this.stopNative();
  }

  /** Nobody knows whether the provider runs it, or what it bills: that is the operator's loss. */
  async forget(slice: BatchSlice, reason: string): Promise<void> {
    const lines = await this.#deps.slices.lines(slice.id, this.batch.id);
    const nano = lines.reduce((sum, { work }) => sum + BigInt(work.held), 0n);
    const ids = { batch: this.batch.id, slice: slice.id, provider: slice.provider, upstream_id: slice.upstreamId };
    const bill = { lines: lines.length, nano: String(nano), reason };
    this.#deps.logger.error({ ...ids, ...bill }, "a slice of a batch is lost: its provider may bill it");
    await this.remove(slice, lines);
    this.lost += 1;
    if (this.lost > LOST_MAX && !this.isLost) await this.stopNative();
  }

  /**
   * Removes a slice, after the holds of those lines that have no result were given back: a hold without its row would be charged. From
   * before that on, every run gives them back, and none reads answers to them.
   */
  async remove(slice: BatchSlice, unanswered: readonly SliceLine[]): Promise<void> {
    const { id, batchId, state } = slice;
    const own = unanswered.filter(({ position }) => !this.ended.has(position));
    if (own.length > 0 && state !== "filling") await this.change({ ...slice, state: "filling" });
    if (this.isLost) return;
    await Promise.all(own.map(({ work }) => this.#deps.discard(work)));
    const again = own[0]?.position;
    if (!(await this.#deps.slices.remove(this.batch, { id, batchId }, again))) return this.lose();
    for (const { position } of own) this.held.delete(position);
    this.slices = this.slices.filter((each) => each.id !== id);
    this.next = Math.min(this.next, again ?? this.next);
  }

  async stopNative(): Promise<void> {
    if (!(await this.#deps.slices.stop(this.batch))) return this.lose();
    this.isNative = false;
  }

  pause(afterMs: number): void {
    this.busyUntil = Math.max(this.busyUntil, this.now + Math.min(afterMs, ASK_MS_MAX));
  }

  lose(): void {
    this.isLost = true;
  }
}
