import type { Hold, LedgerOperation } from "../../operations.ts";
import type { LedgerMemory } from "./memory.ts";

/**
 * Cuts a batch into parts, each of which sees what the ones before it have written. Nearly always there is one: only the
 * accounts are kept up to date from one operation to the next, so that a new part begins where an operation must see what
 * became of another row. Within a part no id occurs twice, no hold comes with a retry key that an earlier operation may
 * have claimed or freed, and a sweep is alone.
 */
export class PartChooser {
  readonly #memory: LedgerMemory;
  #part = 1;
  readonly #ids = new Set<string>();
  readonly #keys = new Set<string>();
  #mayHaveFreed = false;
  #isSweep = false;

  constructor(memory: LedgerMemory) {
    this.#memory = memory;
  }

  /** The operation's part, counted from 1 upwards. */
  choose(operation: LedgerOperation): number {
    if (this.#needsPart(operation)) this.#begin();
    this.#note(operation);
    return this.#part;
  }

  #needsPart(operation: LedgerOperation): boolean {
    if (operation.kind === "sweep") return this.#isSweep || this.#ids.size > 0;
    if (this.#isSweep || this.#ids.has(operation.id)) return true;
    const key = operation.kind === "hold" ? keyOf(operation) : undefined;
    return key !== undefined && (this.#mayHaveFreed || this.#keys.has(key));
  }

  #begin(): void {
    this.#part += 1;
    this.#ids.clear();
    this.#keys.clear();
    this.#mayHaveFreed = false;
    this.#isSweep = false;
  }

  #note(operation: LedgerOperation): void {
    if (operation.kind === "sweep") {
      this.#isSweep = true;
      return;
    }
    this.#ids.add(operation.id);
    const key = operation.kind === "hold" ? keyOf(operation) : undefined;
    if (key !== undefined) this.#keys.add(key);
    const mayEnd = operation.kind === "settle" || operation.kind === "release";
    if (mayEnd && this.#memory.hold(operation.id)?.hasKey !== false) this.#mayHaveFreed = true;
  }
}

function keyOf({ accountId, retry }: Hold): string | undefined {
  return retry && JSON.stringify([accountId, retry.key]);
}
