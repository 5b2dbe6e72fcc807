/** How many lines of a batch run at once, and when the next one may begin: a provider that is busy slows the batch. */

/** Lines of one owner's batch at a time in a process. */
const LINES_MAX = 8;

/** The pauses after answers that ask for one. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** Lines that must end well before one more runs at once. */
const GROW_AFTER = 8;

export class Pace {
  /** Lines at a time. */
  limit = LINES_MAX;
  /** The next line begins no sooner. */
  notBefore = -Infinity;
  #pauseMs = PAUSE_MS_MIN;
  #well = 0;

  /** A line ended. */
  well(): void {
    this.#pauseMs = PAUSE_MS_MIN;
    this.#well += 1;
    if (this.#well < GROW_AFTER || this.limit >= LINES_MAX) return;
    this.#well = 0;
    this.limit += 1;
  }

  /** A line could not be done now; the answer may say for how long. */
  busy(now: number, askedMs: number | undefined): void {
    this.#well = 0;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    const pauseMs = Math.min(askedMs ?? this.#pauseMs, PAUSE_MS_MAX);
    this.notBefore = Math.max(this.notBefore, now + pauseMs);
    if (askedMs === undefined) this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS_MAX);
  }
}
