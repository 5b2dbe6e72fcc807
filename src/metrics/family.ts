/**
 * Metrics as plain data: the form in which a worker gives its own to the process that is scraped, and that `prom-client` adds
 * up and writes.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Differs from the family's name for the parts of a histogram: `…_bucket`, `…_sum`, `…_count`. */
  metricName?: string;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  values: readonly Sample[];
  /** How the values of several processes become one: those of a shared storage are the same in each. */
  aggregator: "sum" | "max";
}

export function counter(name: string, help: string, values: readonly Sample[]): MetricFamily {
  return { name, help, type: "counter", values, aggregator: "sum" };
}

export function gauge(name: string, help: string, value: number, aggregator: "sum" | "max" = "sum"): MetricFamily {
  return { name, help, type: "gauge", values: [{ labels: {}, value }], aggregator };
}
