import type { Labels, MetricFamily, Sample } from "./family.ts";

/** Counts of observed values by size. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last counts the values above them. */
  readonly #counts: number[];
  #sum = 0;

  /** `bounds` are the inclusive upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  get isEmpty(): boolean {
    return this.#counts.every((count) => count === 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** In Prometheus's form: each bucket contains those below it. */
  samples(name: string, labels: Labels): Sample[] {
    const samples: Sample[] = [];
    let count = 0;
    for (const [bucket, own] of this.#counts.entries()) {
      count += own;
      const bound = this.#bounds[bucket];
      const le = bound === undefined ? "+Inf" : String(bound);
      samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
    }
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels, value: count });
    return samples;
  }
}

/** A family of histograms with the same bounds. */
export function histogramFamily(
  name: string,
  help: string,
  histograms: Iterable<readonly [Labels, Histogram]>,
): MetricFamily {
  const values = [...histograms].flatMap(([labels, histogram]) =>
    histogram.isEmpty ? [] : histogram.samples(name, labels),
  );
  return { name, help, type: "histogram", values, aggregator: "sum" };
}
