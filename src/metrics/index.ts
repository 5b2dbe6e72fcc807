export { addUp, exposition, EXPOSITION_TYPE } from "./exposition.ts";
export type { MetricFamily } from "./family.ts";
export type { GaugeSources } from "./gauges.ts";
export { GatewayMetrics } from "./gateway-metrics.ts";
export { otlpMetrics } from "./otlp.ts";
