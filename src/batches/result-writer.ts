/** Collects the results of lines, and stores several of them in one commit. */
import { isError, type LineResult, textOf, usageOf } from "./line-result.ts";
import type { BatchStore, BatchUsage, LineCounts, ResultPart, StoredBatch } from "./store.ts";

/** Bytes of results that are stored without waiting for more: a larger part would hold up the store's other writes. */
const BYTES_MAX = 64 * 1024;

/** How long a result may wait for others. */
const WAIT_MS_MAX = 200;

interface Waiting {
  result: LineResult;
  text: string;
}

export class ResultWriter {
  readonly #store: Pick<BatchStore, "write" | "ended">;
  readonly #batch: StoredBatch;
  readonly #now: () => number;
  #usage: BatchUsage;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #since = 0;
  /** Whether a write was rejected, which may have been committed all the same. */
  #isUnsure = false;

  constructor(store: Pick<BatchStore, "write" | "ended">, batch: StoredBatch, now: () => number) {
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

  /** Resolves with false if another run has the batch. After a rejection, the results wait for the next flush. */
  async flush(): Promise<boolean> {
    const waiting = await this.#notStored();
    if (waiting.length === 0) return true;
    const before = { bytes: this.#bytes, usage: this.#usage };
    this.#waiting = [];
    this.#bytes = 0;
    const counts: LineCounts = { succeeded: 0, failed: 0, cancelled: 0, expired: 0 };
    for (const { result } of waiting) counts[result.outcome] += 1;
    this.#usage = withUsageOf(waiting, before.usage);
    try {
      return await this.#store.write(this.#batch, { parts: this.#partsOf(waiting), counts, usage: this.#usage });
    } catch (reason) {
      this.#waiting = [...waiting, ...this.#waiting];
      this.#bytes += before.bytes;
      this.#usage = before.usage;
      this.#isUnsure = true;
      throw reason;
    }
  }

  /** The results that wait, without those that a rejected write has stored. */
  async #notStored(): Promise<readonly Waiting[]> {
    if (!this.#isUnsure) return this.#waiting;
    const ended = new Set(await this.#store.ended(this.#batch));
    const stored = this.#waiting.filter(({ result }) => ended.has(result.position));
    this.#usage = withUsageOf(stored, this.#usage);
    this.#waiting = this.#waiting.filter(({ result }) => !ended.has(result.position));
    this.#isUnsure = false;
    return this.#waiting;
  }

  #partsOf(waiting: readonly Waiting[]): ResultPart[] {
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

function withUsageOf(waiting: readonly Waiting[], before: BatchUsage): BatchUsage {
  const usage = { ...before };
  for (const { result } of waiting) {
    const used = usageOf(result);
    usage.input += used.input;
    usage.cached += used.cached;
    usage.output += used.output;
    usage.reasoning += used.reasoning;
  }
  return usage;
}
