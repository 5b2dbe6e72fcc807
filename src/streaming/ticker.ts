import { type Clock, type Every, everyUnref } from "../core/index.ts";

/** A callback for every tick, from `watch` until `leave`. */
export interface Watched {
  /** Its index among the watched, set by the ticker; -1 outside. */
  slot: number;
  onTick(now: number): void;
}

interface TickerOptions {
  every?: Every;
  onError?: (reason: unknown) => void;
}

/**
 * One timer for any number of streams and holds. Joining and leaving are constant-time, because every call does both: a
 * leaving entry is replaced by the last one.
 */
export class Ticker {
  readonly #watched: Watched[] = [];
  readonly #stopTimer: () => void;
  readonly #clock: Clock;
  readonly #onError: (reason: unknown) => void;

  /** `onError` is called with an error of a callback; by default it is thrown, once the others have been called. */
  constructor(everyMs: number, clock: Clock, { every = everyUnref, onError = rethrow }: TickerOptions = {}) {
    this.#clock = clock;
    this.#onError = onError;
    this.#stopTimer = every(everyMs, () => this.#tick(clock()));
  }

  now(): number {
    return this.#clock();
  }

  /** Calls `onTick` on every tick, until it leaves. */
  watch(watched: Watched): void {
    watched.slot = this.#watched.push(watched) - 1;
  }

  /** Does nothing if it has left already. */
  leave(watched: Watched): void {
    const { slot } = watched;
    if (slot === -1) return;
    watched.slot = -1;
    const last = this.#watched.pop();
    if (last === undefined || last === watched) return;
    this.#watched[slot] = last;
    last.slot = slot;
  }

  /** Calls back once, on the first tick that comes `milliseconds` from now or later, unless cancelled before. */
  after(milliseconds: number, onDue: () => void): () => void {
    const due = this.#clock() + milliseconds;
    const deadline: Watched = {
      slot: -1,
      onTick: (now) => {
        if (now < due) return;
        this.leave(deadline);
        onDue();
      },
    };
    this.watch(deadline);
    return () => this.leave(deadline);
  }

  /** Resolves on the first tick that comes `milliseconds` from now or later; never once the ticker is stopped. */
  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.after(milliseconds, resolve));
  }

  stop(): void {
    this.#stopTimer();
    for (const watched of this.#watched) watched.slot = -1;
    this.#watched.length = 0;
  }

  /**
   * Backwards: a leaving entry is replaced by one that was already called, and a new one is called on the next tick.
   */
  #tick(now: number): void {
    const thrown: unknown[] = [];
    for (let slot = this.#watched.length - 1; slot >= 0; slot -= 1) {
      try {
        this.#watched[slot]?.onTick(now);
      } catch (reason) {
        thrown.push(reason);
      }
    }
    for (const reason of thrown) this.#onError(reason);
  }
}

function rethrow(reason: unknown): never {
  throw reason;
}
