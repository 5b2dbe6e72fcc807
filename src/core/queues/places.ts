import type { CallSignal } from "../call-abort.ts";
import { GatewayError } from "../errors.ts";
import { FairQueue, type FairQueueOptions, type QueuedTask } from "./fair-queue.ts";

export type { QueuedTask } from "./fair-queue.ts";

/** The time after which an owner whose tasks wait may send more. */
const RETRY_AFTER_SECONDS = 5;

export interface PlaceRequest extends QueuedTask {
  /** Its abort ends the wait. */
  signal?: CallSignal | undefined;
}

interface Waiting extends QueuedTask {
  /** Called with its place. */
  enter: () => void;
  refuse?: (reason: unknown) => void;
}

/** A task that has a place, and the function that gives it back. */
export interface Grabbed<Task> {
  task: Task;
  leave: () => void;
}

/** How busy a queue is. */
export type QueueLoad = Pick<Places, "running" | "waiting" | "started" | "waitedMs">;

export interface PlacesOptions extends FairQueueOptions {
  /** Names what waits, for an owner who has too much of it: "pages". */
  what: string;
}

/** The places of a resource that all users share: see `FairQueue`. */
export class Places {
  readonly #queue: FairQueue<Waiting>;
  readonly #what: string;
  #closed: Error | undefined;
  /** Tasks that have got a place so far, and how long all of them have waited for it. */
  started = 0;
  waitedMs = 0;

  constructor({ what, ...options }: PlacesOptions) {
    this.#what = what;
    this.#queue = new FairQueue(options);
  }

  get count(): number {
    return this.#queue.places;
  }

  /** Tasks that have a place. */
  get running(): number {
    return this.#queue.running;
  }

  /** Tasks that wait for a place. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * Resolves, once there is a place, with the function that gives it back, which may be called repeatedly. Rejects with 429 if
   * too many tasks of the owner wait, and with the reason of the signal.
   */
  async enter({ owner, upstream, signal }: PlaceRequest): Promise<() => void> {
    if (signal?.aborted === true) throw signal.reason;
    if (this.#closed !== undefined) throw this.#closed;
    const { promise, resolve: enter, reject: refuse } = Promise.withResolvers<void>();
    const waiting: Waiting = { owner, upstream, enter, refuse };
    const since = performance.now();
    if (!this.#queue.add(waiting)) throw tooManyWaiting(this.#what);
    this.#dispatch();
    const abort = {
      handleEvent: (): void => {
        if (this.#queue.remove(waiting)) refuse(signal?.reason);
      },
    };
    signal?.addEventListener("abort", abort);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    this.started += 1;
    this.waitedMs += performance.now() - since;
    return this.#leaving(waiting);
  }

  /**
   * Gives places to those of the tasks that may run now, in a fair order. The others do not wait: for tasks that have a
   * table of their own.
   */
  grab<Task extends QueuedTask>(tasks: readonly Task[]): Grabbed<Task>[] {
    const grabbed: Grabbed<Task>[] = [];
    const waiting = tasks.map((task): Waiting => {
      const { owner, upstream } = task;
      const one = { owner, upstream, enter: () => void grabbed.push({ task, leave: this.#leaving(one) }) };
      return one;
    });
    const added = this.#closed === undefined ? waiting.filter((one) => this.#queue.add(one)) : [];
    this.#dispatch();
    for (const one of added) this.#queue.remove(one);
    return grabbed;
  }

  /** Rejects those that wait, and all later ones, with this reason. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const { refuse } of this.#queue.clear()) refuse?.(reason);
  }

  #dispatch(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) next.enter();
  }

  #leaving(waiting: Waiting): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#queue.end(waiting);
      this.#dispatch();
    };
  }
}

/** The refusal of a task whose owner has too many of them waiting. */
export function tooManyWaiting(what: string): GatewayError {
  const message = `Too many ${what} of yours wait already.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
