/** Counts a process's own work for the rules, in numbers of single minutes. */
import type { CommitReport, WorkObserver, WorkReport } from "../charges/index.ts";
import { type Clock, NANO_PER_CREDIT } from "../core/index.ts";
import type { ProcessReport } from "./store.ts";

const MINUTE_MS = 60_000;

/** Minutes over which the share of failures is judged, and over which rare things are remembered. */
const CALL_MINUTES = 5;
const RARE_MINUTES = 60;

/** Models without a price that are remembered of one minute: callers choose among those that providers list. */
const UNPRICED_MAX = 100;

/** The counts of one minute. */
interface MinuteCounts {
  minute: number;
  calls: Map<string, [all: number, failed: number]>;
  unpriced: Map<string, number>;
  shortfall: number;
}

export class ProcessCounts implements WorkObserver {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #minutes: MinuteCounts[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ended({ record: { provider, status, outcome } }: WorkReport): void {
    const { calls } = this.#now();
    let counts = calls.get(provider);
    if (counts === undefined) calls.set(provider, (counts = [0, 0]));
    counts[0] += 1;
    if (outcome === "interrupted" || (outcome === "failed" && status >= 500)) counts[1] += 1;
  }

  committed({ shortfall }: CommitReport): void {
    if (shortfall > 0n) this.#now().shortfall += Number(shortfall) / Number(NANO_PER_CREDIT);
  }

  /** A call was refused since its model has no price: the model, if its provider has it, else the provider. */
  unpriced(name: string): void {
    const { unpriced } = this.#now();
    if (unpriced.has(name) || unpriced.size < UNPRICED_MAX) unpriced.set(name, (unpriced.get(name) ?? 0) + 1);
  }

  /** Undefined if there is nothing to report. */
  report(journal: number): ProcessReport | undefined {
    const now = Math.floor(this.#clock() / MINUTE_MS);
    this.#forget(now);
    const calls: Record<string, [number, number]> = {};
    const unpriced: Record<string, number> = {};
    let shortfall = 0;
    for (const counts of this.#minutes) {
      shortfall += counts.shortfall;
      for (const [name, count] of counts.unpriced) unpriced[name] = (unpriced[name] ?? 0) + count;
      if (counts.minute <= now - CALL_MINUTES) continue;
      for (const [provider, [all, failed]] of counts.calls) {
        const [allBefore, failedBefore] = calls[provider] ?? [0, 0];
        calls[provider] = [allBefore + all, failedBefore + failed];
      }
    }
    const isEmpty = journal === 0 && shortfall === 0 && [calls, unpriced].every((of) => Object.keys(of).length === 0);
    return isEmpty ? undefined : { calls, unpriced, shortfall, journal };
  }

  #now(): MinuteCounts {
    const minute = Math.floor(this.#clock() / MINUTE_MS);
    let last = this.#minutes.at(-1);
    if (last?.minute !== minute) {
      last = { minute, calls: new Map(), unpriced: new Map(), shortfall: 0 };
      this.#minutes.push(last);
      this.#forget(minute);
    }
    return last;
  }

  #forget(now: number): void {
    while ((this.#minutes[0]?.minute ?? now) <= now - RARE_MINUTES) this.#minutes.shift();
  }
}
