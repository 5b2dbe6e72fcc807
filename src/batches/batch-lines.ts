/**
 * The lines of a batch, while one process runs them:
 *
 *   waiting ──its turn──▶ called ──▶ ended: its result is stored
 *      ▲                    ├──provider busy, upstream failed, still running from before a kill──▶ later
 *      └────────────────────┘
 *
 * It ends when all lines have ended, or early: cancelled, expired, without credits or token. Then the lines that are called end
 * first, also those of earlier runs, and the others get the reason as their result.
 */
import type { Principal } from "../auth/index.ts";
import { GatewayError } from "../core/index.ts";
import { BatchWatch, type EarlyEnd } from "./batch-watch.ts";
import { calledBefore, callerBefore } from "./called-before.ts";
import type { BatchDependencies } from "./dependencies.ts";
import { type KeptLine, linesOf } from "./files/kept-lines.ts";
import { type LineResult, refusedLine } from "./line-result.ts";
import { LinesAgain } from "./lines-again.ts";
import { Pace } from "./pace.ts";
import { type LineEnd, type PendingLine, performLine } from "./perform-line.ts";
import { isFault, readLine } from "./files/read-line.ts";
import { ResultWriter } from "./result-writer.ts";
import type { KeptFile, StoredBatch } from "./store.ts";

/** The longest wait for a turn without a look at the batch. */
const TURN_MS = 500;

/** The longest wait without a look at what is due. */
const WAIT_MS = 100;

/** A run that takes longer makes room: a process that has a new configuration goes on with that. */
const RUN_MS = 5 * 60_000;

/** The pause before a line whose upstream failed, or which still runs, is called again. */
const AGAIN_MS = 3_000;

/** Lines in a row without credits, each called alone, after which the others are not called. */
const UNPAID_MAX = 20;

/** Lines in a row that no run has called, after which the next ones are not looked up: lines are called in order. */
const FREE_MAX = 1_000;

/** `stopped`: another run has the batch. `paused`: another one is to go on. */
type LinesEnd = "completed" | "cancelled" | "expired" | "stopped" | "paused";

export class BatchLines {
  readonly #deps: BatchDependencies;
  readonly #batch: StoredBatch;
  readonly #file: KeptFile;
  readonly #signal: AbortSignal;
  readonly #writer: ResultWriter;
  readonly #watch: BatchWatch;
  readonly #pace = new Pace();
  readonly #ended = new Set<number>();
  readonly #again: LinesAgain;
  readonly #client = new AbortController();
  readonly #begunAt: number;
  #called = 0;
  #unpaid = 0;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: BatchDependencies, run: { batch: StoredBatch; file: KeptFile; signal: AbortSignal }) {
    this.#deps = deps;
    this.#batch = run.batch;
    this.#file = run.file;
    this.#signal = run.signal;
    this.#begunAt = deps.ticker.now();
    this.#again = new LinesAgain(deps.memory);
    this.#watch = new BatchWatch(deps, run.batch);
    this.#writer = new ResultWriter(deps.batches, run.batch, () => deps.ticker.now());
    run.signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /** Calls all lines that have no result yet. Rejects if the storage fails; another run then goes on. */
  async run(): Promise<LinesEnd> {
    try {
      return await this.#run();
    } finally {
      this.#again.close();
      // However it ends, the results so far are paid. Those that cannot be stored are asked for again by their retry keys.
      await this.#writer.flush().catch(() => undefined);
    }
  }

  async #run(): Promise<LinesEnd> {
    for (const position of await this.#deps.batches.ended(this.#batch)) this.#ended.add(position);
    const lines = this.#lines();
    let [isLast, next]: [boolean, PendingLine | undefined] = [false, undefined];
    for (;;) {
      await this.#look();
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#watch.isLost || this.#signal.aborted) return "stopped";
      if (this.#watch.early !== undefined && this.#called === 0) break;
      if (this.#isOver && this.#called === 0) return (await this.#writer.flush()) ? "paused" : "stopped";
      // A line is read when it may be called: until then, it would only take memory.
      if (next === undefined && !isLast && !this.#again.isFull && this.#mayBegin())
        ({ done: isLast = false, value: next } = await lines.next());
      const due = this.#again.takeDue(this.#deps.ticker.now()) ?? (this.#again.isFull ? undefined : next);
      if (due === undefined && isLast && this.#called === 0 && this.#again.isEmpty) break;
      if (due === undefined || !this.#mayBegin() || !this.#again.hold(due)) {
        if (due !== undefined && due !== next) this.#again.addFirst(due);
        await this.#wait();
        continue;
      }
      if (due === next) next = undefined;
      await this.#begin(due);
    }
    if (this.#watch.early !== undefined) await this.#endOthers(this.#watch.early);
    if (!(await this.#writer.flush())) return "stopped";
    return this.#watch.early?.status ?? "completed";
  }

  get #isOver(): boolean {
    return this.#deps.ticker.now() - this.#begunAt > RUN_MS;
  }

  async *#lines(): AsyncGenerator<PendingLine, undefined, undefined> {
    for await (const { position, bytes } of this.#kept()) {
      if (bytes === undefined || this.#ended.has(position)) continue;
      // A slice of a part would keep the whole part.
      const own = bytes.buffer.byteLength > bytes.length ? Buffer.from(bytes) : bytes;
      yield { position, bytes: own, failures: 0 };
    }
    return undefined;
  }

  #kept(): AsyncGenerator<KeptLine, void, undefined> {
    return linesOf(this.#deps.files, this.#file, this.#deps.bounds.lineBytesMax);
  }

  #mayBegin(): boolean {
    if (this.#watch.early !== undefined || this.#watch.principal === undefined || this.#isOver) return false;
    if (this.#deps.ticker.now() < this.#pace.notBefore) return false;
    // After a line without credits, the next one is called alone: others that are called may give credits back.
    const limit = this.#unpaid > 0 ? 1 : this.#deps.turns.limitOf(this.#batch.owner, this.#pace.limit);
    return this.#called < limit;
  }

  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = this.#deps.ticker.after(WAIT_MS, resolve);
    await promise;
    cancel();
  }

  async #begin(line: PendingLine): Promise<void> {
    const { turns } = this.#deps;
    const principal = this.#watch.principal;
    if (principal === undefined) return;
    let leave: () => void;
    try {
      // Results that wait are stored meanwhile, and a cancellation is seen.
      leave = await turns.enter(this.#batch.owner, AbortSignal.any([this.#signal, AbortSignal.timeout(TURN_MS)]));
    } catch {
      this.#again.addFirst(line);
      return;
    }
    const wasAlone = this.#called === 0;
    this.#called += 1;
    void this.#call(line, principal, wasAlone).finally(() => {
      leave();
      this.#called -= 1;
      this.#wake();
    });
  }

  async #call(line: PendingLine, principal: Principal, wasAlone: boolean): Promise<void> {
    try {
      const { signal } = this.#client;
      this.#note(line, await performLine(this.#deps, this.#batch, { line, principal, client: { signal } }), wasAlone);
    } catch (reason) {
      this.#again.release(line);
      this.#failure ??= reason instanceof Error ? reason : new Error(String(reason));
    }
  }

  #note(line: PendingLine, end: LineEnd, wasAlone: boolean): void {
    const now = this.#deps.ticker.now();
    switch (end.kind) {
      case "ended":
        this.#unpaid = 0;
        this.#pace.well();
        this.#again.release(line);
        return this.#end(end.result);
      case "busy":
        this.#pace.busy(now, end.afterMs);
        return this.#again.add(line, this.#pace.notBefore);
      case "running":
        return this.#again.add(line, now + AGAIN_MS);
      case "failed-upstream":
        return this.#again.add({ ...line, failures: line.failures + 1 }, now + AGAIN_MS);
      case "unpaid":
        return this.#noteUnpaid(line, end.result, wasAlone);
    }
  }

  #noteUnpaid(line: PendingLine, result: LineResult, wasAlone: boolean): void {
    this.#unpaid = Math.max(this.#unpaid, 1);
    if (!wasAlone || this.#called > 1) return this.#again.add(line, 0);
    this.#unpaid += 1;
    this.#again.release(line);
    this.#end(result);
    if (this.#unpaid <= UNPAID_MAX) return;
    const error = new GatewayError("insufficient_credits", "Not enough credits for this line.");
    this.#watch.early ??= { status: "completed", outcome: "failed", error };
  }

  #end(result: LineResult): void {
    this.#ended.add(result.position);
    this.#writer.add(result);
  }

  /** Stores what is due, and looks whether the batch and its token go on. */
  async #look(): Promise<void> {
    if (this.#writer.isDue && !(await this.#writer.flush())) this.#watch.isLost = true;
    await this.#watch.look();
  }

  /** OpenAI's batches that were cancelled have no results of the lines that were not called. */
  async #endOthers({ status, outcome, error }: EarlyEnd): Promise<void> {
    const areSilent = status === "cancelled" && this.#batch.kind === "calls";
    const principal = this.#watch.principal ?? (await callerBefore(this.#deps, this.#batch));
    let free = 0;
    for await (const { position, bytes } of this.#kept()) {
      if (bytes === undefined) continue;
      if (this.#ended.has(position)) {
        free = 0;
        continue;
      }
      const read = readLine(bytes, this.#batch);
      if (isFault(read)) continue;
      const asked = {
        line: { position, bytes: Buffer.from(bytes), failures: 0 },
        refusal: error,
        signal: this.#signal,
      };
      const isAsked = principal !== undefined && free < FREE_MAX;
      const before = isAsked ? await calledBefore(this.#deps, this.#batch, { ...asked, principal }) : undefined;
      free = before === undefined ? free + 1 : 0;
      if (before !== undefined) this.#end(before);
      else if (!areSilent)
        this.#end(refusedLine({ position, customId: read.customId }, error, { outcome, requestId: this.#batch.id }));
      if (this.#writer.isDue && !(await this.#writer.flush())) return;
      this.#signal.throwIfAborted();
    }
  }
}
