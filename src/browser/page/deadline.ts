import { BrowserError } from "../browser-error.ts";

/** How far a scrape may still go: until its time is up, it is cancelled, or its page crashes. */
export class Deadline {
  readonly #until: number;
  readonly #over = Promise.withResolvers<never>();
  readonly #timer: Timer;
  readonly #listeners: (() => void)[] = [];
  #ended: { reason: unknown } | undefined;

  constructor(milliseconds: number) {
    this.#until = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.end(timedOut()), milliseconds);
    // It may end while nothing waits for it.
    this.#over.promise.catch(() => undefined);
  }

  /** Milliseconds; at least one, since zero means "without end" to Playwright. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#until - performance.now()));
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** The reason of its end; `cause` if it has not ended. */
  reasonOr(cause: unknown): unknown {
    return this.#ended === undefined ? cause : this.#ended.reason;
  }

  /** Rejects with the reason of its end if the promise has not settled by then. */
  async bound<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    return await Promise.race([this.#over.promise, promise]);
  }

  /** The first reason counts. */
  end(reason: unknown): void {
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#over.reject(reason);
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** Called at its end, which may be over already. */
  onEnd(listener: () => void): void {
    if (this.#ended === undefined) this.#listeners.push(listener);
    else listener();
  }

  /** The scrape is over: it will not end any more. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#listeners.length = 0;
  }
}

function timedOut(): BrowserError {
  return new BrowserError("timeout", "it took too long");
}
