import type { Problems, Spread } from "./protocol.ts";

/** Enough for a minute at 30,000 requests a second; later samples are counted but not kept. */
const samplesMax = 2_000_000;
const examplesMax = 3;

/** Latencies in milliseconds, in memory that is reserved once and used again for each job. */
export class Samples {
  readonly #values = new Float64Array(samplesMax);
  #count = 0;

  clear(): void {
    this.#count = 0;
  }

  add(milliseconds: number): void {
    if (this.#count < samplesMax) this.#values[this.#count++] = milliseconds;
  }

  /** Null when nothing was measured. */
  spread(): Spread | null {
    if (this.#count === 0) return null;
    const sorted = this.#values.subarray(0, this.#count).toSorted();
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) };
  }
}

/** The smallest value that at least `share` of the sorted values don't exceed. */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function noProblems(): Problems {
  return { count: 0, examples: [] };
}

export function addProblem(problems: Problems, problem: string): void {
  problems.count += 1;
  if (problems.examples.length < examplesMax) problems.examples.push(problem);
}
