import { setImmediate } from "node:timers/promises";

/** How long one piece of work takes before other callers have their turn. */
const SLICE_MS = 10;

/** Divides work that takes long on the event loop, so that other callers are answered meanwhile. */
export class Slices {
  readonly #spentMsMax: number;
  #begun = performance.now();
  #spentMs = 0;

  /** `spentMsMax` is the time that the work may take in all, the turns of others left out. */
  constructor({ spentMsMax = Infinity }: { spentMsMax?: number } = {}) {
    this.#spentMsMax = spentMsMax;
  }

  get isOver(): boolean {
    return performance.now() - this.#begun > SLICE_MS;
  }

  /** Lets others work. Resolves with whether there is time left. */
  async next(): Promise<boolean> {
    this.#spentMs += performance.now() - this.#begun;
    if (this.#spentMs > this.#spentMsMax) return false;
    await setImmediate();
    this.#begun = performance.now();
    return true;
  }
}
