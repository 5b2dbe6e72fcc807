/** The part of the composition for batches: the routes whose calls they contain, and their files. */
import { openTokenStore } from "../auth/index.ts";
import {
  BATCH_JOB,
  type BatchEndpoint,
  Batches,
  LineTurns,
  openBatchStore,
  openKeptFileStore,
} from "../batches/index.ts";
import type { CallPipeline } from "../calls/index.ts";
import { admitFree } from "../charges/index.ts";
import type { Config } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { batchedRoutes } from "../http/index.ts";
import type { ResponseStoreService } from "../objects/index.ts";
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
    files: openKeptFileStore(storage),
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

function endpointsOf({
  calls: { router },
  pipeline,
  responseStore,
}: BatchesOptions): ReadonlyMap<string, BatchEndpoint> {
  return new Map(
    batchedRoutes.map(({ path, operations, perform }) => [
      path,
      {
        perform: (request) => perform(request, { pipeline, responseStore }),
        resolve: (model, principal) => void router.resolve(model, operations, principal),
      },
    ]),
  );
}
