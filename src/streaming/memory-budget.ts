import { GatewayError, limits } from "../core/index.ts";

/** The time after which a refused call may be repeated. */
const RETRY_AFTER_SECONDS = 5;

/**
 * The memory for large bodies and answers, shared by all calls of a process. Data is counted while it arrives, so that a
 * client which only declares a large body takes nothing from others.
 */
export class MemoryBudget {
  readonly bytesMax: number;
  #used = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The counted bytes. */
  get used(): number {
    return this.#used;
  }

  /** A share for one body or answer, empty at first. */
  share(): MemoryShare {
    return new MemoryShare(this);
  }

  /** Counts bytes of a share and returns true, or false if they exceed the budget. Negative ones are given back. */
  take(bytes: number): boolean {
    if (bytes > 0 && this.#used + bytes > this.bytesMax) return false;
    this.#used += bytes;
    return true;
  }
}

/** The part of a budget that one body or answer takes. */
export class MemoryShare {
  readonly #budget: MemoryBudget;
  #bytes = 0;
  #counted = 0;
  #isFree = false;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Counts further bytes. Throws 503 if they exceed the budget; nothing more is counted then, or once it is freed. */
  add(bytes: number): void {
    if (this.#isFree) throw new Error("data arrived after its call had ended");
    this.#bytes += bytes;
    // Thousands of ordinary calls must not wait for a few large ones.
    if (this.#bytes <= limits.smallBodyBytesMax) return;
    const more = this.#bytes - this.#counted;
    if (!this.#budget.take(more)) throw memoryExhausted();
    this.#counted = this.#bytes;
  }

  /** Gives everything back, once. A reader that still receives data is ended by its next piece. */
  free(): void {
    this.#isFree = true;
    if (this.#counted > 0) this.#budget.take(-this.#counted);
    this.#counted = 0;
  }
}

/** The refusal of what exceeds the budget. */
export function memoryExhausted(): GatewayError {
  return new GatewayError("memory_exhausted", "Too many large bodies, answers and open WebSockets are under way.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
