/** The part of the composition for batches: the routes whose calls they contain, and their files. */
import { openTokenStore } from "../auth/index.ts";
import {
  BATCH_JOB,
  type BatchProvider,
  type BatchEndpoint,
  Batches,
  LineTurns,
  openBatchStore,
  openKeptFileStore,
  openSliceStore,
} from "../batches/index.ts";
import { batchedTarget, type CallPipeline } from "../calls/index.ts";
import { admitFree, resumeWork } from "../charges/index.ts";
import type { Config } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { batchedRoutes } from "../http/index.ts";
import type { ResponseStoreService } from "../objects/index.ts";
import type { Target, UpstreamRoute } from "../routing/index.ts";
import type { Storage } from "../storage/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { Jobs } from "./jobs.ts";
import type { PaidWork } from "./paid-work.ts";

/** Bytes of one line of a batch. Many are in memory at once, and each is read in one step. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;

interface BatchesOptions extends Pick<Jobs, "handle" | "wake"> {
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  calls: PaidWork;
  pipeline: CallPipeline;
  responseStore: ResponseStoreService;
  webhooks: Webhooks;
  ticker: Ticker;
  /** The gateway's own address. */
  publicUrl: string;
}

/** Batches that are due are run by this process from now on. */
export function createBatches(options: BatchesOptions): Batches {
  const { config, environment, storage, logger, calls, webhooks, ticker, publicUrl, wake } = options;
  const { bytes_per_user, lines_max, file_max, keep, lines } = config.batches;
  const batches = new Batches({
    batches: openBatchStore(storage),
    slices: openSliceStore(storage),
    files: openKeptFileStore(storage),
    providers: {
      asking: { environment, send: calls.send, observer: calls.observer, memory: calls.memory, ticker },
      find: (prefix) => providerOf(options, calls.router.withPrefix(prefix)),
    },
    discard: (work) => resumeWork(calls.work, work).discard(),
    wake,
    endpoints: endpointsOf(options),
    turns: new LineTurns({ lines, running: () => calls.shell.active }),
    memory: calls.memory,
    tokens: openTokenStore(storage),
    webhooks,
    admitFree: (call) => admitFree(calls.work, call),
    environment,
    ticker,
    logger,
    publicUrl,
    bounds: {
      bytesPerUserMax: bytes_per_user,
      linesMax: lines_max,
      fileBytesMax: file_max,
      lineBytesMax: Math.min(config.server.body_limit, calls.memory.bytesMax, LINE_BYTES_MAX),
      keepMs: keep,
    },
  });
  options.handle(BATCH_JOB, batches.handler);
  return batches;
}

/** A provider with batches of its own, unless the operator has switched them off. */
function providerOf({ config }: BatchesOptions, route: UpstreamRoute | undefined): BatchProvider | undefined {
  const { native } = config.batches;
  const api = route?.provider.batches;
  if (route === undefined || api === undefined) return undefined;
  const set = typeof native === "string" ? native : native[route.prefix];
  return set === "off" ? undefined : { route, api };
}

/** Undefined for a route of several models, and for a model without a price or whose provider has no such batches. */
function batchedBy(options: BatchesOptions, model: string, resolve: () => Target): BatchProvider | undefined {
  if (options.calls.router.routeOf(model) !== undefined) return undefined;
  const { route, operation, model: name, price } = batchedTarget(resolve());
  const provider = price.source === "unpriced" ? undefined : providerOf(options, route);
  return provider?.api.takes(operation.path, name) === true ? provider : undefined;
}

function endpointsOf(options: BatchesOptions): ReadonlyMap<string, BatchEndpoint> {
  const { calls, pipeline, responseStore } = options;
  const { router } = calls;
  return new Map(
    batchedRoutes.map(({ path, operations, perform }) => [
      path,
      {
        perform: (request) => perform(request, { pipeline, responseStore }),
        resolve: (model, principal) => void router.resolve(model, operations, principal),
        batchedBy: (model, principal) => batchedBy(options, model, () => router.resolve(model, operations, principal)),
      },
    ]),
  );
}
