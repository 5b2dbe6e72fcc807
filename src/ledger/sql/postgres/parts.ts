import type { LedgerOperation } from "../../operations.ts";
import { keyName, keyOf, type LedgerCache } from "./ledger-cache.ts";

/**
 * Splits a batch into parts, each of which sees the writes of the previous ones. Almost always there is one part.
 * Within a part, only accounts and claimed retry keys are updated from one operation to the next, so a new part begins
 * if an operation must see the change of another row. Within a part, no id occurs twice, no hold has a retry key that
 * an earlier end may have freed, and a sweep is alone. Positions are counted from 1.
 */
export class Parts {
  /** The last position of each part except the current one. */
  readonly #ends: number[] = [];
  readonly #memory: LedgerCache;
  #place = 0;
  readonly #ids = new Set<string>();
  /** The first position of each key in the current part. */
  readonly #keyPlaces = new Map<string, number>();
  /** Keys that an operation of the current part frees or answers. */
  readonly #freed = new Set<string>();
  #mayHaveFreedAny = false;
  #isSweep = false;

  constructor(memory: LedgerCache) {
    this.#memory = memory;
  }

  /**
   * Adds an operation. For a hold with a retry key, returns the position of the first hold in its part with the same
   * key.
   */
  add(operation: LedgerOperation): number | undefined {
    if (this.#needsPart(operation)) this.#begin();
    this.#place += 1;
    if (operation.kind === "sweep") {
      this.#isSweep = true;
      return undefined;
    }
    for (const id of idsOf(operation)) this.#ids.add(id);
    if (operation.kind === "settle" || operation.kind === "release") this.#noteEnd(operation.id);
    if (operation.kind === "keep-answer") this.#freed.add(keyName(operation.accountId, operation.key));
    const key = operation.kind === "hold" ? keyOf(operation) : undefined;
    if (key === undefined) return undefined;
    const first = this.#keyPlaces.get(key) ?? this.#place;
    this.#keyPlaces.set(key, first);
    return first;
  }

  /** The last position of each part. */
  ends(): number[] {
    return [...this.#ends, this.#place];
  }

  #needsPart(operation: LedgerOperation): boolean {
    if (operation.kind === "sweep") return this.#isSweep || this.#ids.size > 0;
    if (this.#isSweep || idsOf(operation).some((id) => this.#ids.has(id))) return true;
    // A hold of the current part may have claimed the key.
    if (operation.kind === "keep-answer") return this.#keyPlaces.has(keyName(operation.accountId, operation.key));
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

  /** Only for holds taken by this process is it known which key an end frees. */
  #noteEnd(id: string): void {
    const hold = this.#memory.hold(id);
    if (hold === undefined) this.#mayHaveFreedAny = true;
    else if (hold.key !== undefined) this.#freed.add(hold.key);
  }
}

/** Of the hold or grant, and of a job whose row is created. */
function idsOf(operation: Exclude<LedgerOperation, { kind: "sweep" }>): string[] {
  return operation.kind === "park" ? [operation.id, `job ${operation.job.id}`] : [operation.id];
}
