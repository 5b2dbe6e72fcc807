/** Runs tasks of one answer so many side by side, in their order: further ones wait. */
export class Lanes {
  readonly #last: Promise<unknown>[];
  #begun = 0;

  constructor(count: number) {
    this.#last = Array.from({ length: count }, () => Promise.resolve());
  }

  /** Resolves and rejects as the task. Rejects with the reason of the signal if it is aborted before the task has begun. */
  run<Result>(task: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const lane = this.#begun % this.#last.length;
    this.#begun += 1;
    const result = (this.#last[lane] ?? Promise.resolve()).then(() => {
      signal.throwIfAborted();
      return task();
    });
    this.#last[lane] = result.catch(() => undefined);
    return result;
  }
}
