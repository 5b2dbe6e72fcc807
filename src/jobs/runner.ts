/**
 * Runs due jobs. The states of a job:
 *
 *   put ──▶ waiting ──due: leased──▶ running ──done──────────────▶ gone
 *              ▲                        ├──again, failed───▶ waiting
 *              │                        ├──attempts used up─▶ given up ──▶ gone
 *              └──lease runs out────────┘
 *
 * The lease of a process that dies or loses the storage runs out, and any process may then take the job. Each write by a
 * process names its lease, so that a process which was paused past the end of its lease changes nothing.
 */
import type { Ticker, Watched } from "../streaming/index.ts";
import type { JobHandler } from "./handler.ts";
import { Lane, type LaneOptions } from "./lane.ts";

/** The interval at which each process looks for due jobs. */
const POLL_MS = 1_000;

/** The delay until the jobs of a dead node are taken over. The clocks of the nodes must agree to well within it. */
const LEASE_MS = 60_000;

/** The time in which runs must react to their signal when the runner stops. */
const ABORT_MS_MAX = 2_000;

export interface JobRunnerOptions extends Omit<LaneOptions, "leaseMs" | "ticker"> {
  handlers: ReadonlyMap<string, JobHandler>;
  ticker: Pick<Ticker, "now" | "watch" | "leave" | "after">;
  pollMs?: number;
  leaseMs?: number;
}

export class JobRunner implements Watched {
  slot = -1;
  readonly #lanes = new Map<string, Lane>();
  readonly #laneOptions: LaneOptions;
  readonly #ticker: JobRunnerOptions["ticker"];
  readonly #pollMs: number;
  #polledAt: number;

  /** Starts at once. Jobs of a kind without a handler stay for a node that has one. */
  constructor({ handlers, pollMs = POLL_MS, leaseMs = LEASE_MS, ...options }: JobRunnerOptions) {
    this.#laneOptions = { ...options, leaseMs };
    for (const [kind, handler] of handlers) this.handle(kind, handler);
    this.#ticker = options.ticker;
    this.#pollMs = pollMs;
    this.#polledAt = this.#ticker.now();
    this.#ticker.watch(this);
    this.#poll();
  }

  /** Runs the jobs of a further kind, before the runner is closed. */
  handle(kind: string, handler: JobHandler): void {
    this.#lanes.set(kind, new Lane(kind, handler, this.#laneOptions));
  }

  /** Looks for due jobs of this kind now: for a process that has just put one. */
  wake(kind: string): void {
    this.#lanes.get(kind)?.take();
  }

  onTick(now: number): void {
    for (const lane of this.#lanes.values()) lane.keep(now);
    if (now - this.#polledAt < this.#pollMs) return;
    this.#polledAt = now;
    this.#poll();
  }

  #poll(): void {
    for (const lane of this.#lanes.values()) lane.take();
  }

  /** Runs that have not ended. */
  get running(): number {
    let running = 0;
    for (const lane of this.#lanes.values()) running += lane.running;
    return running;
  }

  /** Takes no more jobs. Current runs go on, and keep their leases. */
  close(): void {
    for (const lane of this.#lanes.values()) lane.close();
  }

  /**
   * Takes no more jobs, waits up to `drainMs` for the current runs, then aborts them. The lease of a run that ends by its
   * signal is given back at once. A run that ignores the signal keeps its lease until that runs out, since no other process
   * may run the job at the same time. Resolves with the number of such runs.
   */
  async stop(drainMs: number): Promise<number> {
    this.close();
    await this.#waitForRuns(drainMs);
    for (const lane of this.#lanes.values()) lane.abort(new Error("the job runner stops"));
    await this.#waitForRuns(ABORT_MS_MAX);
    this.#ticker.leave(this);
    return this.running;
  }

  async #waitForRuns(milliseconds: number): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ticker.after(milliseconds, resolve);
    const rest = Promise.all([...this.#lanes.values()].map((lane) => lane.rest()));
    await Promise.race([rest, over]);
    cancel();
  }
}
