import { AggregatorRegistry, Registry } from "prom-client";
import type { MetricFamily } from "./family.ts";

/** The media type of Prometheus's text format. */
export const EXPOSITION_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

type Processes = readonly (readonly MetricFamily[])[];

/** The metrics of all processes as one, in Prometheus's text format. */
export function exposition(processes: Processes): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

/** The metrics of several processes as those of one. */
export async function addUp(processes: Processes): Promise<readonly MetricFamily[]> {
  const families: unknown = await AggregatorRegistry.aggregate([...processes]).getMetricsAsJSON();
  return families as MetricFamily[];
}
