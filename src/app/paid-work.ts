/** The part of the composition that all ways of paid work share: the ledger's side, the shell, the bounds of sending. */
import { ImageFetcher, LargeBodies, type PipelineDependencies } from "../calls/index.ts";
import {
  type EndJournal,
  guardObservers,
  logObserver,
  type ShellDependencies,
  type WorkDependencies,
  type WorkObserver,
  WorkShell,
} from "../charges/index.ts";
import type { OpenAnswers } from "../auth/index.ts";
import type { Config } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import type { Ledger, Release, Settle } from "../ledger/index.ts";
import type { GatewayMetrics } from "../metrics/index.ts";
import type { KeptThoughts, StoredObjects } from "../objects/index.ts";
import type { Outbound } from "../outbound/index.ts";
import { BusyTargets, type Circuits, type ModelRouter, SessionCaches } from "../routing/index.ts";
import { MemoryBudget, type Ticker } from "../streaming/index.ts";
import type { CallTags } from "../tags/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { circuitsOf, routeLimitsOf } from "./routing/model-routes.ts";
import type { Tracing } from "./tracing.ts";

interface LastingWorkOptions {
  /** Only its settings that need a restart are read here. */
  config: Config;
  environment: Environment;
  logger: Logger;
  /** The bytes of memory for large bodies and answers. */
  memoryBytesMax: number;
  /** Undefined if the gateway counts nothing. */
  metrics: GatewayMetrics | undefined;
  /** Undefined if it records no traces. */
  tracing: Tracing | undefined;
}

export interface LedgerParts {
  ledger: Ledger;
  ticker: Ticker;
  storedObjects: StoredObjects;
  keptThoughts: KeptThoughts;
  unsettled: Map<string, Settle | Release>;
  journal: EndJournal;
  openAnswers: OpenAnswers;
  tags: CallTags;
}

/** The parts of paid work that outlive a configuration. */
export interface LastingWork extends ShellDependencies, Pick<PipelineDependencies, "largeBodies" | "busy" | "caches"> {
  observer: WorkObserver;
  /** Adds a part to those that are notified. */
  observe: (observer: WorkObserver) => void;
  circuits: Circuits;
}

export interface PaidWork extends Omit<PipelineDependencies, "work">, ShellDependencies {
  observer: WorkObserver;
}

export function createLastingWork(options: LastingWorkOptions, parts: LedgerParts): LastingWork {
  const { config, environment, logger, memoryBytesMax, metrics, tracing } = options;
  const { ledger, ticker, unsettled, journal, openAnswers, tags } = parts;
  const observers = [logObserver(logger), metrics?.observer, tracing?.observer].filter((each) => each !== undefined);
  const observer = guardObservers(observers, (reason) => logger.error({ reason: String(reason) }, "observer failed"));
  const work: WorkDependencies = {
    ledger,
    ticker,
    clock: environment.clock,
    openAnswers,
    onUnsettled: (id, reason) => logger.error({ request_id: id, reason: String(reason) }, "ledger commit failed"),
    unsettled,
    journal,
    observer,
    traceOf: tracing?.traceOf,
    tags,
    contents: tracing?.contents,
  };
  return {
    work,
    observer,
    observe: (more) => void observers.push(more),
    memory: new MemoryBudget(memoryBytesMax),
    body: { bytesMax: config.server.body_limit, arrivalMsMax: config.server.body_timeout, ticker },
    largeBodies: new LargeBodies(),
    busy: new BusyTargets(),
    caches: new SessionCaches(environment.clock),
    circuits: circuitsOf(environment, logger),
  };
}

interface PaidWorkOptions extends Pick<LastingWorkOptions, "config" | "environment" | "logger"> {
  router: ModelRouter;
  outbound: Outbound;
}

/** Creates the parts that all ways of paid work share, for one configuration. */
export function createPaidWork(options: PaidWorkOptions, lasting: LedgerParts & LastingWork): PaidWork {
  const { config, environment, logger, router, outbound } = options;
  const { storedObjects, keptThoughts, observer, work, memory, body, largeBodies, busy, caches, circuits } = lasting;
  return {
    environment,
    router,
    storedObjects,
    keptThoughts,
    logger,
    observer,
    work,
    send: {
      retries: config.upstream.retries,
      retryAfterMsMax: config.upstream.retry_after_max,
      connectMsMax: config.upstream.connect_timeout,
      firstByteMsMax: config.upstream.first_byte_timeout,
      totalMsMax: config.upstream.total_timeout,
      idleMsMax: config.upstream.idle_timeout,
    },
    routeLimits: routeLimitsOf(config),
    busy,
    caches,
    circuits: config.routing.circuits ? circuits : undefined,
    memory,
    body,
    shell: new WorkShell({ work, memory, body }),
    largeBodies,
    images: new ImageFetcher({ outbound }),
  };
}
