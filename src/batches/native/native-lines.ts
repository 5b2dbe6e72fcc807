/**
 * The lines of a batch that its provider runs, in slices:
 *
 *   pending ──held, at the price of batches──▶ filling ──▶ sending ──▶ running ──▶ ended: each line is charged, or given back
 *      ▲                                          │           │           │
 *      └──────────────given back: refused, lost, not called───┴───────────┘
 *
 * A run looks at what is due, sends what is not sent yet, and leaves the rest to the next run of the job. The lines that cannot go to the
 * provider, or come back from it, are called by the gateway itself once no slice is left.
 */
import { isOutsideFault } from "../../core/index.ts";
import { BatchWatch } from "../batch-watch.ts";
import { callerBefore } from "../called-before.ts";
import type { BatchDependencies } from "../dependencies.ts";
import { linesOf } from "../files/kept-lines.ts";
import type { PendingLine } from "../perform-line.ts";
import type { BatchSlice, KeptFile, StoredBatch } from "../store.ts";
import { fillSlice, type FilledSlice, LineSource } from "./fill-slice.ts";
import { followSlice } from "./follow-slice.ts";
import { ASK_MS, SliceBook } from "./slice-book.ts";
import { type AskedBatch, isBusy, UpstreamBatches } from "./upstream-batches.ts";

/** The longest pause between two runs. */
const PAUSE_MS_MAX = 60_000;

/** The pause after a provider, or a limit of the token, takes no further lines now. */
const BUSY_MS = 10_000;

/** `here`: no slice is left, and the gateway calls the other lines. `again`: the job is to run again after a while. */
export type NativeEnd = { kind: "here" } | { kind: "stopped" } | { kind: "again"; afterMs: number; lost: number };

export class NativeLines {
  readonly #deps: BatchDependencies;
  readonly #batch: StoredBatch;
  readonly #file: KeptFile;
  readonly #signal: AbortSignal;
  readonly #watch: BatchWatch;
  readonly #book: SliceBook;
  #source: LineSource | undefined;

  /** `lost`: the slices of the batch that its provider has lost before this run. */
  constructor(deps: BatchDependencies, run: { batch: StoredBatch; file: KeptFile; signal: AbortSignal; lost: number }) {
    this.#deps = deps;
    this.#batch = run.batch;
    this.#file = run.file;
    this.#signal = run.signal;
    this.#watch = new BatchWatch(deps, run.batch);
    this.#book = new SliceBook(deps, run.batch, run.lost);
  }

  /** Rejects if the storage fails; another run then goes on. */
  async run(): Promise<NativeEnd> {
    const book = this.#book;
    await book.load();
    if (!book.isNative && book.slices.length === 0) return { kind: "here" };
    try {
      await this.#follow();
      while (this.#mayFill) {
        await this.#fillNext();
        await this.#watch.look();
      }
    } finally {
      await book.flush().catch(() => undefined);
    }
    if (this.#isOver) return { kind: "stopped" };
    const isPending = book.isNative && book.next < this.#batch.total && this.#watch.early === undefined;
    if (book.slices.length === 0 && !isPending) return { kind: "here" };
    const times = book.slices.map(({ askAt }) => askAt - book.now);
    if (isPending) times.push(book.busyUntil - book.now);
    return { kind: "again", afterMs: Math.max(Math.min(...times, PAUSE_MS_MAX), 0), lost: book.lost };
  }

  get #isOver(): boolean {
    return this.#book.isLost || this.#watch.isLost || this.#signal.aborted;
  }

  get #mayFill(): boolean {
    const { isNative, next, busyUntil, now } = this.#book;
    if (this.#isOver || this.#watch.early !== undefined) return false;
    return isNative && next < this.#batch.total && busyUntil <= now;
  }

  async #follow(): Promise<void> {
    await this.#watch.look();
    for (const slice of this.#book.slices) {
      if (this.#isOver) return;
      await followSlice(this.#deps, this.#book, slice, {
        file: this.#file,
        signal: this.#signal,
        principal: async () => this.#watch.principal ?? callerBefore(this.#deps, this.#batch),
        upstream: this.#upstreamOf(slice.provider),
        isEnding: this.#watch.early !== undefined,
      });
      await this.#watch.look();
    }
  }

  #upstreamOf(prefix: string): UpstreamBatches | undefined {
    const { providers } = this.#deps;
    const provider = providers.find(prefix);
    const client = { headers: new Headers(this.#batch.headers), signal: this.#signal };
    return provider && new UpstreamBatches(providers.asking, provider, client);
  }

  async #fillNext(): Promise<void> {
    const book = this.#book;
    const { principal } = this.#watch;
    const { nativeProvider: provider = "" } = this.#batch;
    const upstream = this.#upstreamOf(provider);
    if (principal === undefined || upstream === undefined) return book.stopNative();
    // Lines that were given back are read once more.
    if (this.#source === undefined || this.#source.next > book.next) {
      this.#source = new LineSource(this.#pending(), book.next);
    }
    const source = this.#source;
    const filled = await fillSlice(this.#deps, {
      batch: this.#batch,
      slice: newSlice(this.#deps, { batchId: this.#batch.id, provider }),
      api: upstream.api,
      principal,
      source,
      onHeld: (position) => book.held.add(position),
      onEnded: (result) => book.note(result),
      signal: this.#signal,
    });
    book.next = Math.min(source.next, this.#batch.total);
    try {
      await this.#send(filled, upstream);
    } finally {
      filled.free();
    }
  }

  async *#pending(): AsyncGenerator<PendingLine, undefined, undefined> {
    const { next: from, ended, held } = this.#book;
    for await (const { position, bytes } of linesOf(this.#deps.files, this.#file, this.#deps.bounds.lineBytesMax)) {
      if (bytes === undefined || position < from || ended.has(position) || held.has(position)) continue;
      yield { position, bytes: Buffer.from(bytes), failures: 0 };
    }
    return undefined;
  }

  async #send({ lines, ended, slice, afterMs }: FilledSlice, upstream: UpstreamBatches): Promise<void> {
    const book = this.#book;
    if (ended === "stopped") return book.lose();
    if (lines.length > 0) {
      book.add(slice);
      await this.#create(slice, lines, upstream);
    }
    if (ended === "busy") book.pause(afterMs ?? BUSY_MS);
    if (ended !== "unpaid") return undefined;
    // What other slices do not need of their holds may pay for these lines.
    return book.slices.length > 0 ? book.pause(ASK_MS) : book.stopNative();
  }

  async #create(filling: BatchSlice, lines: readonly string[], upstream: UpstreamBatches): Promise<void> {
    const book = this.#book;
    let slice = filling;
    try {
      let fileId: string | undefined;
      if (upstream.api.upload !== undefined) {
        const uploaded = await upstream.upload(lines);
        if ("status" in uploaded) return await this.#notCreated(slice, uploaded.status);
        slice = { ...slice, keyId: uploaded.keyId };
        ({ fileId } = uploaded);
      }
      slice = { ...slice, state: "sending" };
      await book.change(slice);
      if (book.isLost) return undefined;
      return await this.#created(slice, await upstream.create(slice, { lines, fileId }), upstream);
    } catch (reason) {
      if (!isOutsideFault(reason)) throw reason;
      book.pause(BUSY_MS);
      // The next run looks for it.
      if (slice.state === "sending" && reason.losesAnswer) return book.askLater(slice, reason.message);
      return book.giveBack(slice);
    }
  }

  async #created(slice: BatchSlice, asked: AskedBatch, upstream: UpstreamBatches): Promise<void> {
    const book = this.#book;
    if (asked.kind === "refused") return this.#notCreated(slice, asked.status);
    const { batch, keyId } = asked;
    if (batch.state === "refused") return book.refuse(slice, batch.reason);
    const askAt = book.now + ASK_MS;
    const running: BatchSlice = { ...slice, state: "running", upstreamId: batch.id, keyId, asks: 0, askAt };
    await book.change(running);
    // Another run has given its lines back meanwhile, and nobody will ask for it.
    if (book.isLost) await upstream.cancel(running);
  }

  /** The provider has made nothing: it is busy, or does not take the slice. */
  #notCreated(slice: BatchSlice, status: number): Promise<void> {
    if (!isBusy(status)) return this.#book.refuse(slice, `its creation was answered with ${status}`);
    this.#book.pause(BUSY_MS);
    return this.#book.giveBack(slice);
  }
}

function newSlice(
  { environment: { clock, randomBytes } }: Pick<BatchDependencies, "environment">,
  { batchId, provider }: Pick<BatchSlice, "batchId" | "provider">,
): Omit<BatchSlice, "model" | "path"> {
  const id = `tollgate-${Buffer.from(randomBytes(16)).toString("hex")}`;
  const asked = { keyId: undefined, upstreamId: undefined, isCancelled: false, asks: 0, askAt: clock() };
  return { id, batchId, provider, state: "filling", ...asked };
}
