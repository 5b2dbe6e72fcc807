/**
 * The metrics of worker processes, which their parent asks for by the channel that it has opened to each:
 *
 *   parent ──"metrics"──▶ worker ──its families──▶ parent
 */
import process from "node:process";
import { addUp, type MetricFamily } from "../../metrics/index.ts";

/** How long a worker may take; then its last metrics count. */
const ANSWER_MS_MAX = 2_000;

const REQUEST = "metrics";

export type Families = readonly MetricFamily[];

interface Channel {
  send(message: string): void;
}

/** Answers the parent's requests, in a worker. Returns a function that reports the last counts of one that ends. Never rejects. */
export function answerMetrics(collect: () => Promise<Families>): () => Promise<void> {
  process.on("message", (message) => {
    if (message === REQUEST) void collect().then((families) => process.send?.(families));
  });
  return async () => {
    const families = await collect();
    const { promise: isSent, resolve } = Promise.withResolvers<void>();
    try {
      process.send?.(families, undefined, undefined, () => resolve());
    } catch {
      // The parent is gone.
      return;
    }
    await Promise.race([isSent, Bun.sleep(ANSWER_MS_MAX)]);
  };
}

/** The parent's side. */
export class WorkerMetrics {
  /** The last metrics of each worker that runs. */
  readonly #last = new Map<Channel, Families>();
  readonly #waiting = new Map<Channel, PromiseWithResolvers<void>>();
  /** The counts of workers that have ended: a sum that falls would be taken for a restart of all. */
  #ended: Promise<Families> = Promise.resolve([]);

  join(worker: Channel): void {
    this.#last.set(worker, []);
  }

  leave(worker: Channel): void {
    const counts = this.#last.get(worker)?.filter(({ type }) => type !== "gauge") ?? [];
    this.#ended = this.#ended.then((sum) => addUp([sum, counts]));
    this.#last.delete(worker);
    this.#waiting.get(worker)?.resolve();
  }

  receive(worker: Channel, families: Families): void {
    if (this.#last.has(worker)) this.#last.set(worker, families);
    this.#waiting.get(worker)?.resolve();
  }

  /** Asks all workers that run. */
  async collect(): Promise<Families[]> {
    await Promise.all([...this.#last.keys()].map((worker) => this.#ask(worker)));
    // Both as of now: a worker that ends meanwhile counts once.
    const [ended, running] = [this.#ended, [...this.#last.values()]];
    return [await ended, ...running];
  }

  async #ask(worker: Channel): Promise<void> {
    let waiting = this.#waiting.get(worker);
    if (waiting === undefined) {
      waiting = Promise.withResolvers<void>();
      this.#waiting.set(worker, waiting);
      try {
        worker.send(REQUEST);
      } catch {
        // It has just ended.
        waiting.resolve();
      }
    }
    const timer = setTimeout(waiting.resolve, ANSWER_MS_MAX);
    await waiting.promise;
    clearTimeout(timer);
    this.#waiting.delete(worker);
  }
}
