/**
 * Group commit. Operations wait in a queue; operations that arrive during a commit are collected for the next one, so
 * many callers share one transaction. An operation's promise settles after its commit is durable.
 *
 *   idle ──submit──▶ gathering ──▶ committing ──queue empty──▶ idle
 *                        ▲             └──queue not empty──┐
 *                        └─────────────────────────────────┘
 */
import { type Clock, GatewayError, limits } from "../core/index.ts";
import { isDataFault } from "../storage/index.ts";
import type { LedgerOperation, LedgerOutcome, OutcomeOf } from "./operations.ts";
import type { ClaimedKey, LedgerStore } from "./store.ts";

/** A commit waits for more operations if a quarter of the open calls could share it. */
const OPEN_HOLDS_PER_OPERATION = 4;
const GATHERING_TURNS_MAX = 8;

/**
 * A commit that took this long to fail was delayed by the store. A store that is down, a cut connection or a deadlock
 * fails a commit within milliseconds; the next commit is then as fast, and holds wait for it.
 */
const SILENT_MS_MIN = 1_000;

/** How long after the last operation a store is still assumed to delay commits. */
const SILENCE_KEPT_MS = 1_000;

/** A queued operation, which receives its outcome itself. Neither of its methods may throw. */
export interface QueuedOperation<Op extends LedgerOperation = LedgerOperation> {
  readonly operation: Op;
  resolve(outcome: OutcomeOf<Op>): void;
  reject(reason: unknown): void;
}

export interface LedgerOptions {
  store: LedgerStore;
  /** Operations that may wait before new holds are refused. */
  queueMax?: number;
  /** Milliseconds of a monotonic clock. */
  clock?: Clock;
  /** Called after a commit, with its time in milliseconds. Must not throw. */
  onCommit?: ((milliseconds: number) => void) | undefined;
}

export class Ledger {
  readonly #store: LedgerStore;
  readonly #queueMax: number;
  readonly #clock: Clock;
  readonly #onCommit: LedgerOptions["onCommit"];
  #queue: QueuedOperation[] = [];
  #running = false;
  /**
   * The time at which a commit failed after the store had delayed it. The next commit tests the store; holds do not
   * wait for it.
   */
  #silentSince: number | undefined;
  #committingSince = 0;
  /** Holds that are open in this process, as far as it knows. Only used as a measure of load. */
  #open = 0;
  /** How long this commit has waited for more operations. */
  #turns = 0;
  /** Callbacks for when no operation is queued or running. */
  #rest: PromiseWithResolvers<void> | undefined;

  constructor(options: LedgerOptions) {
    this.#store = options.store;
    this.#queueMax = options.queueMax ?? limits.ledgerQueueMax;
    this.#clock = options.clock ?? (() => performance.now());
    this.#onCommit = options.onCommit;
  }

  /** Commits one operation like `enqueue`, and returns a promise of its outcome. */
  submit<Op extends LedgerOperation>(operation: Op): Promise<OutcomeOf<Op>> {
    const { promise, resolve, reject } = Promise.withResolvers<OutcomeOf<Op>>();
    this.enqueue({ operation, resolve, reject });
    return promise;
  }

  /**
   * Commits one operation together with other queued ones. A hold is refused with `ledger_busy` if the queue is full.
   * Operations that raise, renew or end a hold are always accepted: their call is running, and a charge must not be
   * lost to backpressure. Rejects with `storage_unavailable` if the store cannot commit: whether it did is then
   * unknown, and repeating the operation with the same id is safe. If the store delayed a commit until it failed, holds
   * during the next one are refused at once; after any other failure they wait for it, because it fails or succeeds
   * quickly.
   */
  enqueue<Op extends LedgerOperation>(waiting: QueuedOperation<Op>): void {
    const refusal = waiting.operation.kind === "hold" ? this.#refusalOfHold() : undefined;
    if (refusal !== undefined) return waiting.reject(refusal);
    this.#queue.push(waiting);
    if (this.#running) return;
    this.#running = true;
    this.#gather();
  }

  #refusalOfHold(): GatewayError | undefined {
    if (this.#queue.length >= this.#queueMax) {
      return new GatewayError("ledger_busy", "Too many calls are waiting for the ledger.", { retryAfterSeconds: 1 });
    }
    return this.#silentSince !== undefined && this.#running ? unavailable() : undefined;
  }

  /** What a hold with this retry key would be answered, without taking one: see `LedgerStore.takenKey`. */
  takenKey(key: ClaimedKey): ReturnType<LedgerStore["takenKey"]> {
    return this.#store.takenKey(key);
  }

  /** Resolves when everything submitted so far has been committed. */
  async flush(): Promise<void> {
    while (this.#running) await (this.#rest ??= Promise.withResolvers<void>()).promise;
  }

  /**
   * Waits for more operations: always one turn of the event loop, so that every request received in it joins the
   * commit, and a few more turns while many holds are open and few operations have arrived. All operations share a
   * commit's fixed cost; a single caller never waits.
   */
  #gather(): void {
    if (this.#silentSince !== undefined && this.#clock() - this.#silentSince >= SILENCE_KEPT_MS) {
      this.#silentSince = undefined;
    }
    this.#turns = 0;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#turns += 1;
    const wanted = this.#open / OPEN_HOLDS_PER_OPERATION;
    if (this.#turns < GATHERING_TURNS_MAX && this.#queue.length < wanted) setImmediate(this.#onTurn);
    else this.#commitNext();
  };

  #commitNext(): void {
    const committing = this.#commit(this.#queue.splice(0, batchLength(this.#queue)));
    // A store in this process has already committed and needs no promise.
    if (committing === undefined) this.#startCommit();
    else void committing.then(() => this.#startCommit());
  }

  #startCommit(): void {
    if (this.#queue.length > 0) return this.#gather();
    this.#running = false;
    this.#rest?.resolve();
    this.#rest = undefined;
  }

  /** Delivers the outcome of every operation of the batch, or its rejection. Never throws or rejects itself. */
  #commit(batch: readonly QueuedOperation[]): Promise<void> | undefined {
    let outcomes: LedgerOutcome[] | Promise<LedgerOutcome[]>;
    this.#committingSince = this.#clock();
    try {
      outcomes = this.#store.commit(batch.map(operationOf));
    } catch (cause) {
      return this.#fail(batch, cause);
    }
    // Outside the try: a committed operation must never be reported as failed.
    if (!(outcomes instanceof Promise)) return this.#answer(batch, outcomes);
    return outcomes.then(
      (late) => this.#answer(batch, late),
      (cause: unknown) => this.#fail(batch, cause),
    );
  }

  #answer(batch: readonly QueuedOperation[], outcomes: readonly LedgerOutcome[]): undefined {
    this.#silentSince = undefined;
    this.#onCommit?.(this.#clock() - this.#committingSince);
    let index = 0;
    for (const waiting of batch) {
      const outcome = outcomes[index];
      index += 1;
      if (outcome === undefined) waiting.reject(new Error(`the store gave no outcome for ${waiting.operation.kind}`));
      else {
        this.#count(waiting.operation, outcome);
        waiting.resolve(outcome);
      }
    }
  }

  #count(operation: LedgerOperation, outcome: LedgerOutcome): void {
    if (outcome.outcome === "held") this.#open += 1;
    else if (endsHere(operation)) this.#open = Math.max(0, this.#open - 1);
  }

  /** An operation that fails because of its own data must not fail its neighbours: they are retried without it. */
  async #fail(batch: readonly QueuedOperation[], cause: unknown): Promise<void> {
    const isFault = isDataFault(cause);
    if (isFault && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      await this.#commit(batch.slice(0, half));
      return this.#commit(batch.slice(half));
    }
    const now = this.#clock();
    const wasSilent = !isFault && now - this.#committingSince >= SILENT_MS_MIN;
    this.#silentSince = wasSilent ? now : undefined;
    const error = isFault
      ? new GatewayError("internal_error", "The ledger can't take this.", { cause })
      : unavailable(cause);
    for (const waiting of batch) waiting.reject(error);
  }
}

/** Whether a hold is no longer open in this process: it has ended, or belongs to a job. */
function endsHere(operation: LedgerOperation): boolean {
  const { kind } = operation;
  return kind === "settle" || kind === "release" || kind === "park" || (kind === "renew" && operation.keeper === "job");
}

const operationOf = ({ operation }: QueuedOperation): LedgerOperation => operation;

/** How many of the queued operations fit into one commit, by their number and by the bytes of their answers. */
function batchLength(queue: readonly QueuedOperation[]): number {
  let bytes = 0;
  let length = 0;
  for (const { operation } of queue) {
    if (length === limits.ledgerBatchMax) return length;
    if ("answer" in operation) bytes += operation.answer?.body.byteLength ?? 0;
    // A larger operation is committed alone.
    if (bytes > limits.ledgerBatchBytesMax && length > 0) return length;
    length += 1;
  }
  return length;
}

function unavailable(cause?: unknown): GatewayError {
  const message = "The ledger can't be reached.";
  return new GatewayError("storage_unavailable", message, { cause, retryAfterSeconds: 1 });
}
