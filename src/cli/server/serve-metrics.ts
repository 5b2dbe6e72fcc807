import { hostname } from "node:os";
import { type Config, otlpTarget } from "../../config/index.ts";
import { everyUnref, version } from "../../core/index.ts";
import { addUp, exposition, EXPOSITION_TYPE, type MetricFamily, otlpMetrics } from "../../metrics/index.ts";
import { type Logger, OtlpEndpoint } from "../../telemetry/index.ts";
import { environment } from "../state.ts";
import { isPortFree, listen } from "./listen.ts";

/** The metrics of all processes. */
type Collect = () => Promise<readonly (readonly MetricFamily[])[]>;

/** The interval at which a process that replaces another one looks whether the port of the metrics is free. */
const FREE_LOOK_MS = 200;

/** How long a process that ends waits until its last metrics are sent. */
const LAST_MS_MAX = 2_000;

/**
 * Publishes the metrics of all processes, as far as the configuration has `metrics`, and a collector of them in `otlp`. Returns a
 * function that stops it. A process that replaces another one serves them when that has ended, so that no scrape falls between both.
 */
export async function publishMetrics(
  config: Config,
  { logger, replaces }: { logger: Logger; replaces: boolean },
  collect: Collect,
): Promise<() => Promise<void>> {
  const serving = replaces ? serveWhenFree(config, logger, collect) : await serveMetrics(config, logger, collect);
  const stops = [serving, sendMetrics(config, logger, collect)];
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}

function serveWhenFree(config: Config, logger: Logger, collect: Collect): () => Promise<void> {
  let serving: Promise<() => Promise<void>> | undefined;
  const stopLooking = everyUnref(FREE_LOOK_MS, () => {
    if (config.metrics !== undefined && !isPortFree(config.metrics)) return;
    stopLooking();
    serving = serveMetrics(config, logger, collect);
    serving.catch((reason: unknown) => logger.warn({ reason: String(reason) }, "metrics are not served"));
  });
  return async () => {
    stopLooking();
    const stop = await serving?.catch(() => undefined);
    await stop?.();
  };
}

/** Serves `GET /metrics` on a port of its own. */
async function serveMetrics({ metrics }: Config, logger: Logger, collect: Collect): Promise<() => Promise<void>> {
  if (metrics === undefined) return () => Promise.resolve();
  const server = await listen(metrics, { logger });
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
