/** The lines of one run of a batch that are in memory: those that are called, and those that are called again later. */
import type { MemoryBudget } from "../streaming/index.ts";
import type { PendingLine } from "./perform-line.ts";

/** Lines that wait to be called again, beyond which no further line is called. */
const WAITING_MAX = 16;

export class LinesAgain {
  readonly #memory: Pick<MemoryBudget, "take">;
  readonly #waiting: { line: PendingLine; at: number }[] = [];
  /** The bytes of each line that is counted, by its position. */
  readonly #counted = new Map<number, number>();
  #isOver = false;

  constructor(memory: Pick<MemoryBudget, "take">) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get isFull(): boolean {
    return this.#waiting.length >= WAITING_MAX;
  }

  /** Counts a line that is to be called in the memory of the process, once; false if there is no room for it now. */
  hold({ position, bytes }: PendingLine): boolean {
    if (this.#counted.has(position)) return true;
    if (!this.#memory.take(bytes.length)) return false;
    this.#counted.set(position, bytes.length);
    return true;
  }

  /** Gives back a line's memory. */
  release({ position }: PendingLine): void {
    const bytes = this.#counted.get(position);
    if (bytes === undefined) return;
    this.#counted.delete(position);
    this.#memory.take(-bytes);
  }

  /** The line is called again from this time on. */
  add(line: PendingLine, at: number): void {
    if (this.#isOver) this.release(line);
    else this.#waiting.push({ line, at });
  }

  /** The line could not be called: it is the next one. */
  addFirst(line: PendingLine): void {
    if (this.#isOver) this.release(line);
    else this.#waiting.unshift({ line, at: 0 });
  }

  /** The first line that is due. */
  takeDue(now: number): PendingLine | undefined {
    const at = this.#waiting.findIndex((each) => each.at <= now);
    return at === -1 ? undefined : this.#waiting.splice(at, 1)[0]?.line;
  }

  /** The run is over: its lines that are still called give back their memory when they end. */
  close(): void {
    this.#isOver = true;
    for (const { line } of this.#waiting.splice(0)) this.release(line);
  }
}
