/**
 * The turns of batches' lines in one process: a fair queue for all users, in a class below live calls. While many of those run, a batch
 * has one line at a time.
 */
import { Places, type QueueLoad } from "../core/index.ts";
import { turn } from "./files/kept-lines.ts";

/** Live calls of a process above which batches make room. */
const LIVE_MAX = 64;

export interface LineTurnsOptions {
  /** Lines that run at the same time. */
  lines: number;
  /** Calls that run in this process, lines of batches among them. */
  running: () => number;
}

export class LineTurns {
  readonly #places: Places;
  readonly #running: () => number;

  constructor({ lines, running }: LineTurnsOptions) {
    this.#places = new Places({ what: "lines of batches", places: lines });
    this.#running = running;
  }

  get load(): QueueLoad {
    return this.#places;
  }

  /** Lines that one batch may run at once now, of so many. */
  limitOf(limit: number): number {
    return this.#running() - this.#places.running > LIVE_MAX ? 1 : limit;
  }

  /** Resolves with the function that ends the turn. Live calls go first. */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    await turn();
    return this.#places.enter({ owner, signal });
  }
}
