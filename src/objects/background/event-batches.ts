import { limits } from "../../core/index.ts";
import type { BackgroundKey, BackgroundStore, EventBatch } from "./store.ts";

/** Events of one response on their way to the storage, up to their bound. */
export class EventBatches {
  #bytes = 0;
  #events: string[] = [];
  #first = 0;
  #last = 0;
  /** The batch that is being written: after a lost answer it may have been. */
  #batch: EventBatch | undefined;
  /** Bytes that have not been written. */
  waitingBytes = 0;

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#events.length === 0;
  }

  add(number: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    if (this.#bytes > limits.backgroundEventsBytesMax) return;
    if (this.#events.length === 0) this.#first = number;
    this.#last = number;
    this.waitingBytes += bytes;
    this.#events.push(text);
  }

  /** Writes all of them. Rejects if the storage does; may be repeated then. */
  async write(store: Pick<BackgroundStore, "append">, key: BackgroundKey): Promise<void> {
    for (this.#batch ??= this.#take(); this.#batch !== undefined; this.#batch = this.#take()) {
      await store.append(key, this.#batch);
    }
  }

  #take(): EventBatch | undefined {
    if (this.#events.length === 0) return undefined;
    const batch = { first: this.#first, last: this.#last, events: this.#events.join("\n") };
    this.#events = [];
    this.waitingBytes = 0;
    return batch;
  }
}
