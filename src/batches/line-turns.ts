/**
 * The turns of batches' lines in one process: a fair queue for all users, in a class below live calls. While many of those run, a batch
 * has one line at a time.
 */
import { setImmediate } from "node:timers/promises";
import { Places, type QueueLoad } from "../core/index.ts";

/** Live calls of a process above which batches make room. */
const LIVE_MAX = 64;

/** Lines of one owner at a time in a process; each of their batches has one at least. */
const OWNER_LINES_MAX = 8;

export interface LineTurnsOptions {
  /** Lines that run at the same time. */
  lines: number;
  /** Calls that run in this process, lines of batches among them. */
  running: () => number;
}

export class LineTurns {
  readonly #places: Places;
  readonly #running: () => number;
  /** Those that run, by owner. */
  readonly #batches = new Map<string, number>();

  constructor({ lines, running }: LineTurnsOptions) {
    this.#places = new Places({ what: "lines of batches", places: lines });
    this.#running = running;
  }

  get load(): QueueLoad {
    return this.#places;
  }

  /** A batch of this owner runs, until the returned function is called. */
  join(owner: string): () => void {
    this.#batches.set(owner, this.#batchesOf(owner) + 1);
    return () => {
      const left = this.#batchesOf(owner) - 1;
      if (left === 0) this.#batches.delete(owner);
      else this.#batches.set(owner, left);
    };
  }

  /** Lines that one batch of this owner may run at once now, of so many: the owner's batches share theirs. */
  limitOf(owner: string, limit: number): number {
    if (this.#running() - this.#places.running > LIVE_MAX) return 1;
    return Math.min(limit, Math.max(1, Math.floor(OWNER_LINES_MAX / Math.max(this.#batchesOf(owner), 1))));
  }

  #batchesOf(owner: string): number {
    return this.#batches.get(owner) ?? 0;
  }

  /** Resolves with the function that ends the turn. Live calls go first. */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    await setImmediate();
    return this.#places.enter({ owner, signal });
  }
}
