/** Metrics in OTLP's JSON, from the same families as those for Prometheus, and under the same names. */
import { attribute, nanoseconds, type OtlpResource, resourceJson } from "../telemetry/index.ts";
import type { MetricFamily, Sample } from "./family.ts";

/** Sums count from the start of the process: `AGGREGATION_TEMPORALITY_CUMULATIVE`. */
const CUMULATIVE = 2;

interface MetricTimes {
  /** The start of the counts, and their present, in milliseconds since the epoch. */
  startedAt: number;
  at: number;
}

/** The body of an export of all metrics of a process. */
export function otlpMetrics(
  families: readonly MetricFamily[],
  resource: OtlpResource,
  { startedAt, at }: MetricTimes,
): string {
  const times = `"startTimeUnixNano":"${nanoseconds(startedAt)}","timeUnixNano":"${nanoseconds(at)}"`;
  const scope = JSON.stringify({ name: "tollgate", version: resource.version });
  const metrics = families.filter(({ values }) => values.length > 0).map((family) => metricJson(family, times));
  const scoped = `{"scope":${scope},"metrics":[${metrics.join(",")}]}`;
  return `{"resourceMetrics":[{"resource":${resourceJson(resource)},"scopeMetrics":[${scoped}]}]}`;
}

function metricJson({ name, help, type, values }: MetricFamily, times: string): string {
  const described = `"name":"${name}","description":${JSON.stringify(help)}`;
  if (type === "histogram") {
    const points = histogramsIn(values).map((histogram) => histogramJson(histogram, times));
    return `{${described},"histogram":{"aggregationTemporality":${CUMULATIVE},"dataPoints":[${points.join(",")}]}}`;
  }
  const points = values.map(({ labels, value }) => `{${attributesOf(labels)},${times},"asDouble":${finite(value)}}`);
  const list = `"dataPoints":[${points.join(",")}]`;
  return type === "gauge"
    ? `{${described},"gauge":{${list}}}`
    : `{${described},"sum":{"aggregationTemporality":${CUMULATIVE},"isMonotonic":true,${list}}}`;
}

/** The parts of one histogram, whose buckets contain those below them. */
interface HistogramParts {
  labels: Sample["labels"];
  buckets: { bound: number; count: number }[];
  sum: number;
  count: number;
}

function histogramsIn(values: readonly Sample[]): HistogramParts[] {
  const found = new Map<string, HistogramParts>();
  for (const { metricName = "", labels, value } of values) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const parts = found.get(key) ?? { labels: own, buckets: [], sum: 0, count: 0 };
    found.set(key, parts);
    if (le !== undefined) parts.buckets.push({ bound: le === "+Inf" ? Infinity : Number(le), count: value });
    else if (metricName.endsWith("_sum")) parts.sum = value;
    else parts.count = value;
  }
  return [...found.values()];
}

function histogramJson({ labels, buckets, sum, count }: HistogramParts, times: string): string {
  const sorted = buckets.toSorted((one, other) => one.bound - other.bound);
  const bounds = sorted.map(({ bound }) => bound).filter(Number.isFinite);
  const counts = sorted.map((bucket, at) => `"${bucket.count - (sorted[at - 1]?.count ?? 0)}"`);
  return `{${attributesOf(labels)},${times},"count":"${count}","sum":${finite(sum)},"bucketCounts":[${counts.join(",")}],"explicitBounds":[${bounds.join(",")}]}`;
}

function attributesOf(labels: Sample["labels"]): string {
  return `"attributes":[${Object.entries(labels)
    .map(([key, value]) => attribute(key, value))
    .join(",")}]`;
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);
