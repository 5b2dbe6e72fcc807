/** Something that is looked at on every tick, from `watch` until `leave`. */
export interface Watched {
  /** Its place among the watched, kept by the ticker; -1 outside. */
  slot: number;
  onTick(now: number): void;
}

/**
 * One timer for any number of streams and holds. Joining and leaving cost a step in an array, since every call does both:
 * who leaves is replaced by the last one.
 */
export class Ticker {
  readonly #watched: Watched[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #clock: () => number;

  constructor(everyMs: number, clock: () => number) {
    this.#clock = clock;
    this.#timer = setInterval(() => this.#tick(clock()), everyMs);
    this.#timer.unref();
  }

  now(): number {
    return this.#clock();
  }

  /** Calls `onTick` on every tick, until it leaves. */
  watch(watched: Watched): void {
    watched.slot = this.#watched.push(watched) - 1;
  }

  /** Does nothing where it has left already. */
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

  stop(): void {
    clearInterval(this.#timer);
    for (const watched of this.#watched) watched.slot = -1;
    this.#watched.length = 0;
  }

  /** Backwards: who leaves meanwhile is replaced by one that has been looked at, who joins is looked at next time. */
  #tick(now: number): void {
    for (let slot = this.#watched.length - 1; slot >= 0; slot -= 1) this.#watched[slot]?.onTick(now);
  }
}
