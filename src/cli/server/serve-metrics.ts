import type { Config } from "../../config/index.ts";
import { exposition, EXPOSITION_TYPE, type MetricFamily } from "../../metrics/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { listen } from "./listen.ts";

/**
 * Serves `GET /metrics` on a port of its own: the metrics of all processes, which `collect` returns. Returns a function that
 * stops it; without `metrics` in the configuration there is nothing to stop.
 */
export function serveMetrics(
  { metrics }: Pick<Config, "metrics">,
  logger: Logger,
  collect: () => Promise<readonly (readonly MetricFamily[])[]>,
): () => Promise<void> {
  if (metrics === undefined) return () => Promise.resolve();
  const server = listen(metrics);
  server.answerWith(async (request) => {
    if (new URL(request.url).pathname !== "/metrics")
      return new Response("Metrics are at /metrics.\n", { status: 404 });
    return new Response(await exposition(await collect()), { headers: { "content-type": EXPOSITION_TYPE } });
  });
  logger.info({ url: `${server.url}/metrics` }, "metrics");
  return () => server.close();
}
