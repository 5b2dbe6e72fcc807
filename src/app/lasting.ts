/** The parts of the server that outlive a configuration: the ledger's side of all work, open sockets, failures of targets. */
import { hostname } from "node:os";
import { type AlertCounting, createAlertCounting } from "./alerts/alerts.ts";
import { submitLeftEnds, sweep } from "./ends.ts";
import { createLastingWork, type LastingWork, type LedgerParts } from "./paid-work.ts";
import { tablesThreadOf } from "./stores.ts";
import { createTargetSharing, type TargetSharing } from "./routing/shared-targets.ts";
import { createToolQuestions, type ToolQuestions } from "./tools/questions.ts";
import { createTracing, type Tracing } from "./tracing.ts";
import {
  openBrowserSessionStore,
  openClientSecretStore,
  openImportedKeyStore,
  openTokenStore,
  Authenticator,
  OpenAnswers,
  SessionLimit,
} from "../auth/index.ts";
import { EndJournal } from "../charges/index.ts";
import { type Config, otlpTarget } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { type RunningPart, SignInAttempts, Sockets, type TablesThread, type Upgrade } from "../http/index.ts";
import { Ledger, type LedgerStore, openLedgerStore, type Release, type Settle } from "../ledger/index.ts";
import type { McpEndpoint } from "../mcp/index.ts";
import { GatewayMetrics } from "../metrics/index.ts";
import {
  KeptThoughts,
  type ObjectOwnerStore,
  openObjectOwnerStore,
  openThoughtStore,
  StoredObjects,
} from "../objects/index.ts";
import { PagePool } from "../pages/index.ts";
import { OpenSessions, openSessionStore } from "../realtime/index.ts";
import type { Storage } from "../storage/index.ts";
import { Ticker } from "../streaming/index.ts";
import { CallTags, openTagValueStore } from "../tags/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** The interval at which open streams and holds are checked: keep-alives, idle time-outs, leases. */
const TICK_MS = 250;

interface LastingOptions {
  /** Only its settings that need a restart are read here. */
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  version: string;
  /** The bytes of memory for large bodies and answers. */
  memoryBytesMax: number;
  upgrade: Upgrade;
}

export interface Lasting extends LedgerParts, LastingWork {
  store: LedgerStore;
  metrics: GatewayMetrics | undefined;
  tracing: Tracing | undefined;
  alertCounts: AlertCounting;
  objectOwners: ObjectOwnerStore;
  sockets: Sockets;
  authenticator: Authenticator;
  signInAttempts: SignInAttempts;
  targets: TargetSharing;
  /** The requests of agents that run, which a later one may cancel. */
  mcp: McpEndpoint;
  /** Requests that servers of tools have interrupted with questions. */
  toolQuestions: ToolQuestions;
  /** The child processes that take documents apart. */
  pages: PagePool;
  /** Reads long tables; undefined for a storage that no thread beside this one can open, and on Postgres. */
  tablesThread: TablesThread | undefined;
  /** The open realtime sessions, for operators. */
  openSessions: OpenSessions;
  /** The open sessions of each token, whose greatest number a configuration sets. */
  sessionLimits: Readonly<Record<"realtime" | "responses", SessionLimit>>;
  running: readonly RunningPart[];
}

export function createLasting(options: LastingOptions): Lasting {
  const { config, environment, logger, storage, upgrade } = options;
  const { clock, randomFraction, randomBytes } = environment;
  const store = openLedgerStore(storage);
  const isMeasured = config.metrics !== undefined || otlpTarget(config.otlp, "metrics") !== undefined;
  const metrics = isMeasured ? new GatewayMetrics(options.version, config.metrics) : undefined;
  const tracing = createTracing(options);
  const ledger = new Ledger({ store, onCommit: metrics?.onCommit });
  const ticker = new Ticker(TICK_MS, monotonic, { onError: (err) => logger.error({ err }, "a timer's work failed") });
  const objectOwners = openObjectOwnerStore(storage);
  const openAnswers = new OpenAnswers({ store: openTokenStore(storage), clock });
  const parts: LedgerParts = {
    ledger,
    ticker,
    storedObjects: new StoredObjects({ owners: objectOwners, clock }),
    keptThoughts: new KeptThoughts({ thoughts: openThoughtStore(storage), clock, randomBytes }),
    unsettled: new Map<string, Settle | Release>(),
    journal: new EndJournal(config.storage_journal),
    openAnswers,
    tags: new CallTags(openTagValueStore(storage)),
  };
  const work = createLastingWork({ ...options, metrics, tracing }, parts);
  submitLeftEnds(work.work, logger);
  const sockets = new Sockets({ upgrade, logger, memory: work.memory, openAnswers });
  const pages = new PagePool({ randomFraction });
  const openSessions = createOpenSessions(options);
  const toolQuestions = createToolQuestions({ ...options, ticker, memory: work.memory });
  return {
    ...parts,
    ...work,
    store,
    metrics,
    tracing,
    alertCounts: createAlertCounting(clock, work.observe),
    objectOwners,
    sockets,
    authenticator: createAuthenticator(options),
    signInAttempts: new SignInAttempts(clock),
    targets: createTargetSharing(options),
    pages,
    tablesThread: tablesThreadOf(storage),
    mcp: toolQuestions.endpoint,
    sessionLimits: sessionLimitsOf(config),
    openSessions,
    toolQuestions,
    running: [
      sockets,
      { stop: () => pages.close() },
      { stop: sweep(ledger, environment, logger) },
      openAnswers,
      openSessions,
      toolQuestions.running,
    ],
  };
}

function sessionLimitsOf({ realtime, responses }: LastingOptions["config"]): Lasting["sessionLimits"] {
  return {
    realtime: new SessionLimit(realtime.sessions_per_token),
    responses: new SessionLimit(responses.sockets_per_token),
  };
}

/** Time-outs and leases use a monotonic clock: a clock that jumped would end every stream, or renew no hold. */
const monotonic = (): number => performance.now();

function createOpenSessions({ storage, environment, logger }: LastingOptions): OpenSessions {
  return new OpenSessions({
    store: openSessionStore(storage),
    clock: environment.clock,
    node: `${hostname()}:${process.pid}`,
    process: Buffer.from(environment.randomBytes(12)).toString("base64url"),
    onFailure: (thrown) => logger.warn({ reason: String(thrown) }, "realtime sessions are not listed"),
  });
}

function createAuthenticator({ storage, environment }: LastingOptions): Authenticator {
  return new Authenticator({
    store: openTokenStore(storage),
    clientSecrets: openClientSecretStore(storage),
    importedKeys: openImportedKeyStore(storage),
    sessions: openBrowserSessionStore(storage),
    clock: environment.clock,
    onChange: (forget) => storage.onForeignCommit(forget),
  });
}
