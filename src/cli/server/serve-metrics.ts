import { hostname } from "node:os";
import { type Config, otlpTarget } from "../../config/index.ts";
import { everyUnref } from "../../core/index.ts";
import { addUp, exposition, EXPOSITION_TYPE, type MetricFamily, otlpMetrics } from "../../metrics/index.ts";
import { type Logger, OtlpEndpoint } from "../../telemetry/index.ts";
import { environment } from "../state.ts";
import { version } from "../version.ts";
import { listen } from "./listen.ts";

/** The metrics of all processes. */
type Collect = () => Promise<readonly (readonly MetricFamily[])[]>;

/** How long a process that ends waits until its last metrics are sent. */
const LAST_MS_MAX = 2_000;

/**
 * Publishes the metrics of all processes, as far as the configuration has `metrics`, and a collector of them in `otlp`. Returns a
 * function that stops it.
 */
export function publishMetrics(config: Config, logger: Logger, collect: Collect): () => Promise<void> {
  const stops = [serveMetrics(config, logger, collect), sendMetrics(config, logger, collect)];
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}

/** Serves `GET /metrics` on a port of its own. */
function serveMetrics({ metrics }: Config, logger: Logger, collect: Collect): () => Promise<void> {
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

/** Sends the sums of all processes to a collector. Sums that it has missed are in the next ones. */
function sendMetrics({ otlp }: Config, logger: Logger, collect: Collect): () => Promise<void> {
  const target = otlpTarget(otlp, "metrics");
  if (otlp === undefined || target === undefined) return () => Promise.resolve();
  const { clock, fetch } = environment;
  const endpoint = new OtlpEndpoint({ ...target, signal: "metrics", fetch, logger });
  const resource = { version, instance: `${hostname()}:${process.pid}`, attributes: otlp.resource };
  const startedAt = clock();
  let sending: Promise<unknown> | undefined;
  const send = async (): Promise<void> => {
    const families = await addUp(await collect());
    await endpoint.post(otlpMetrics(families, resource, { startedAt, at: clock() }));
  };
  const sendNext = (): Promise<unknown> => {
    sending ??= send()
      .catch((reason: unknown) => logger.warn({ reason: String(reason) }, "metrics are not sent"))
      .finally(() => (sending = undefined));
    return sending;
  };
  const stop = everyUnref(otlp.every, () => void sendNext());
  return async () => {
    stop();
    await Promise.race([Promise.resolve(sending).then(sendNext), Bun.sleep(LAST_MS_MAX)]);
  };
}
