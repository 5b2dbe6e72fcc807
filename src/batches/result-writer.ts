/** Collects the results of lines, and stores several of them in one commit. */
import { isError, type LineResult, textOf, usageIn } from "./line-result.ts";
import type { BatchStore, BatchUsage, LineCounts, ResultPart, StoredBatch } from "./store.ts";

/** Bytes of results that are stored without waiting for more: a larger part would hold up the store's other writes. */
const BYTES_MAX = 64 * 1024;

/** How long a result may wait for others. */
const WAIT_MS_MAX = 200;

export class ResultWriter {
  readonly #store: Pick<BatchStore, "write">;
  readonly #batch: StoredBatch;
  readonly #now: () => number;
  #usage: BatchUsage;
  #waiting: { result: LineResult; text: string }[] = [];
  #bytes = 0;
  #since = 0;

  constructor(store: Pick<BatchStore, "write">, batch: StoredBatch, now: () => number) {
    this.#store = store;
    this.#batch = batch;
    this.#usage = batch.usage;
    this.#now = now;
  }

  add(result: LineResult): void {
    if (this.#waiting.length === 0) this.#since = this.#now();
    const text = textOf(result, this.#batch);
    this.#waiting.push({ result, text });
    this.#bytes += text.length;
  }

  get isDue(): boolean {
    if (this.#waiting.length === 0) return false;
    return this.#bytes >= BYTES_MAX || this.#now() - this.#since >= WAIT_MS_MAX;
  }

  /** Resolves with false if another run has the batch. */
  async flush(): Promise<boolean> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return true;
    this.#waiting = [];
    this.#bytes = 0;
    const counts: LineCounts = { succeeded: 0, failed: 0, cancelled: 0, expired: 0 };
    const usage = { ...this.#usage };
    for (const { result } of waiting) {
      counts[result.outcome] += 1;
      const used = usageIn(result);
      usage.input += used.input;
      usage.cached += used.cached;
      usage.output += used.output;
      usage.reasoning += used.reasoning;
    }
    this.#usage = usage;
    return this.#store.write(this.#batch, { parts: this.#partsOf(waiting), counts, usage });
  }

  #partsOf(waiting: readonly { result: LineResult; text: string }[]): ResultPart[] {
    const { kind, outputFileId, errorFileId } = this.#batch;
    const partOf = (fileId: string, ofErrors: boolean): ResultPart | undefined => {
      const own = waiting.filter(({ result }) => isError(result, kind) === ofErrors);
      if (own.length === 0) return undefined;
      const content = Buffer.from(own.map(({ text }) => text).join(""));
      return { fileId, content, lines: own.map(({ result }) => result.position) };
    };
    return [partOf(outputFileId, false), partOf(errorFileId, true)].filter((part) => part !== undefined);
  }
}
