import type { LedgerOperation } from "../../operations.ts";
import { keyOf, type LedgerCache } from "./ledger-cache.ts";

/**
 * Cuts a batch into parts, each of which sees what the ones before it have written. Nearly always there is one: only the
 * accounts, and the keys that holds claim, are kept up to date from one operation to the next, so that a new part begins
 * where an operation must see what became of another row. Within a part no id occurs twice, no hold comes with a retry
 * key that an end before it may have freed, and a sweep is alone. Places are counted from 1 upwards.
 */
export class Parts {
  /** The last place of each part but the one that goes on. */
  readonly #ends: number[] = [];
  readonly #memory: LedgerCache;
  #place = 0;
  readonly #ids = new Set<string>();
  /** Where in the part a key occurs first. */
  readonly #keyPlaces = new Map<string, number>();
  readonly #freed = new Set<string>();
  #mayHaveFreedAny = false;
  #isSweep = false;

  constructor(memory: LedgerCache) {
    this.#memory = memory;
  }

  /** Adds an operation; for a hold with a retry key, tells the place of the first hold in its part that has the key. */
  add(operation: LedgerOperation): number | undefined {
    if (this.#needsPart(operation)) this.#begin();
    this.#place += 1;
    if (operation.kind === "sweep") {
      this.#isSweep = true;
      return undefined;
    }
    this.#ids.add(operation.id);
    if (operation.kind === "settle" || operation.kind === "release") this.#noteEnd(operation.id);
    const key = operation.kind === "hold" ? keyOf(operation) : undefined;
    if (key === undefined) return undefined;
    const first = this.#keyPlaces.get(key) ?? this.#place;
    this.#keyPlaces.set(key, first);
    return first;
  }

  /** The last place of each part. */
  ends(): number[] {
    return [...this.#ends, this.#place];
  }

  #needsPart(operation: LedgerOperation): boolean {
    if (operation.kind === "sweep") return this.#isSweep || this.#ids.size > 0;
    if (this.#isSweep || this.#ids.has(operation.id)) return true;
    const key = operation.kind === "hold" ? keyOf(operation) : undefined;
    return key !== undefined && (this.#mayHaveFreedAny || this.#freed.has(key));
  }

  #begin(): void {
    this.#ends.push(this.#place);
    this.#ids.clear();
    this.#keyPlaces.clear();
    this.#freed.clear();
    this.#mayHaveFreedAny = false;
    this.#isSweep = false;
  }

  /** Which key it frees is known of the holds that this process took. */
  #noteEnd(id: string): void {
    const hold = this.#memory.hold(id);
    if (hold === undefined) this.#mayHaveFreedAny = true;
    else if (hold.key !== undefined) this.#freed.add(hold.key);
  }
}
