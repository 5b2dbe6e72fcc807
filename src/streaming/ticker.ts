/** One timer for any number of streams and holds: each is looked at on every tick while it is in the set. */
export class Ticker {
  readonly #watched = new Set<(now: number) => void>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #clock: () => number;

  constructor(everyMs: number, clock: () => number) {
    this.#clock = clock;
    this.#timer = setInterval(() => {
      const now = clock();
      for (const onTick of this.#watched) onTick(now);
    }, everyMs);
    this.#timer.unref();
  }

  /** Calls back on every tick, until the returned function is called. */
  watch(onTick: (now: number) => void): () => void {
    this.#watched.add(onTick);
    return () => this.#watched.delete(onTick);
  }

  /** Calls back once, on the first tick that comes `milliseconds` from now or later, unless cancelled before. */
  after(milliseconds: number, onDue: () => void): () => void {
    const due = this.#clock() + milliseconds;
    const cancel = this.watch((now) => {
      if (now < due) return;
      cancel();
      onDue();
    });
    return cancel;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
  }
}
