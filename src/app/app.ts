import { createModelList, type RoutingOptions } from "./routing.ts";
import { createJobs } from "./jobs.ts";
import { drain } from "./drain.ts";
import { createSharedRouter } from "./shared-targets.ts";
import { reportPrices } from "./report-prices.ts";
import { createPaidWork, type LedgerParts, type PaidWork } from "./paid-work.ts";
import { createWeb, type Web } from "./web.ts";
import { createOutbound } from "./webhooks.ts";
import { openClientSecretStore, openTokenStore, Authenticator, OpenAnswers, SessionLimit } from "../auth/index.ts";
import { CallPipeline } from "../calls/index.ts";
import { admitFree, type AdmitFree, type EndDependencies, EndJournal, endHold } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import { FileService } from "../files/index.ts";
import { openGenerationStore } from "../generations/index.ts";
import {
  type CorsPolicy,
  createHttp,
  type Feature,
  features as allFeatures,
  mountFeatures,
  type RunningPart,
  type Services,
  sharedCheck,
  Sockets,
  startFeatures,
  type Upgrade,
  withCors,
} from "../http/index.ts";
import { Ledger, type LedgerStore, openLedgerStore, type Release, type Settle, startSweeper } from "../ledger/index.ts";
import { McpEndpoint } from "../mcp/index.ts";
import { type GaugeSources, GatewayMetrics, type MetricFamily } from "../metrics/index.ts";
import { publishedDocument } from "../openapi/index.ts";
import {
  type BackgroundResponses,
  Conversations,
  openConversationStore,
  openResponseStore,
  ResponseStoreService,
  type ObjectOwnerStore,
  openFileStore,
  openObjectOwnerStore,
  StoredObjects,
} from "../objects/index.ts";
import { builtInLayers } from "../pricing/index.ts";
import { RealtimeSessions } from "../realtime/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { Storage } from "../storage/index.ts";
import { Ticker } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { SocketAsker } from "../upstream/index.ts";
import type { VideoJobs } from "../videos/index.ts";
import type { Webhooks } from "../webhooks/index.ts";

/** The interval at which open streams and holds are checked: keep-alives, idle time-outs, leases. */
const TICK_MS = 250;

/** How long open streams and sockets may still run while the server stops. */
const DRAIN_MS_MAX = 60_000;

/** How long browsers may remember that pages may call a sandbox. */
const SANDBOX_CORS_MS = 10 * 60_000;

export interface AppOptions extends RoutingOptions {
  storage: Storage;
  logger: Logger;
  version: string;
  /** The server's address, for the OpenAPI document if the configuration contains none. */
  address: string;
  /** The bytes of memory for large bodies and answers. */
  memoryBytesMax: number;
  /** The server's function for accepting a WebSocket. */
  upgrade: Upgrade;
  /** The HTTP features; all of them by default. */
  features?: readonly Feature[];
  /** How long open calls and sockets may still run while the server stops. */
  drainMsMax?: number;
}

export interface App {
  fetch: (request: Request) => Response | Promise<Response>;
  /**
   * Refuses new calls, waits (within a bound) for the open ones, commits the remaining operations, stops the timers.
   * Returns the number of calls whose end neither the storage nor the journal accepted; each of them is in the log.
   */
  drain(): Promise<number>;
  /** The metrics of this process; empty if the configuration has none. */
  metrics(): Promise<readonly MetricFamily[]>;
}

/** The composition root: the only place that creates the parts and connects them. */
export function createApp(options: AppOptions): App {
  const { config, environment, logger, storage, upgrade, features = allFeatures, drainMsMax = DRAIN_MS_MAX } = options;
  const store = openLedgerStore(storage);
  const metrics = config.metrics && new GatewayMetrics(options.version);
  const ledger = new Ledger({ store, onCommit: metrics?.onCommit });
  const ticker = new Ticker(TICK_MS, monotonic, { onError: (err) => logger.error({ err }, "a timer's work failed") });
  const { router, share } = createSharedRouter(options);
  const unsettled = new Map<string, Settle | Release>();
  const journal = new EndJournal(config.storage_journal);
  const objectOwners = openObjectOwnerStore(storage);
  const storedObjects = new StoredObjects({ owners: objectOwners, clock: environment.clock });
  const openAnswers = new OpenAnswers({ store: openTokenStore(storage), clock: environment.clock });
  const parts: LedgerParts = { ledger, ticker, router, storedObjects, unsettled, journal, openAnswers };
  const outbound = createOutbound(config, environment);
  const calls = createPaidWork({ ...options, metrics, outbound }, parts);
  const pipeline = new CallPipeline(calls);
  let draining = false;
  const isDraining = (): boolean => draining;
  const publicUrl = config.server.public_url ?? options.address;
  const made = createJobs({ ...options, calls, outbound, publicUrl });
  const web = createWeb({ ...options, calls, pipeline, outbound, webhooks: made.webhooks, ticker, publicUrl });
  const services = servicesOf(options, {
    ...parts,
    ...made,
    calls,
    pipeline,
    store,
    objectOwners,
    web,
    outbound,
    publicUrl,
    isDraining,
  });
  submitLeftEnds(calls.work, logger);
  const timers = [...startTimers(options, ledger), share(calls.circuits)];
  const sockets = new Sockets({ upgrade, logger, memory: calls.memory, openAnswers });
  const answer = createHttp({
    routes: mountFeatures(features, services),
    authenticator: createAuthenticator(options),
    sockets,
    environment,
    logger,
    publicUrl,
    draining: isDraining,
  });
  const running = [calls.shell, sockets, made.jobs, web, ...startFeatures(features, services), ...timers, openAnswers];
  metrics?.watch(gaugeSources(options, { ...parts, calls, sockets, store, queues: web.queues }));
  return {
    fetch: withCors(answer, corsPolicy(options)),
    metrics: async () => (await metrics?.families()) ?? [],
    async drain() {
      draining = true;
      const lost = await drain({ parts: running, drainMsMax, ledger, unsettled, journal, logger });
      ticker.stop();
      metrics?.stop();
      return lost;
    },
  };
}

interface GaugedParts extends LedgerParts, Pick<GaugeSources, "sockets" | "queues"> {
  calls: PaidWork;
  store: LedgerStore;
}

/** The parts whose state is measured. */
function gaugeSources(
  { environment: { clock }, catalogs = builtInLayers() }: AppOptions,
  parts: GaugedParts,
): GaugeSources {
  const { calls, sockets, queues, unsettled, journal, store } = parts;
  return {
    calls: calls.shell,
    sockets,
    queues,
    memory: calls.memory,
    circuits: calls.circuits,
    unsettled,
    journal,
    held: () => store.books.held(),
    catalogDays: () => catalogs.age(clock())?.days,
    now: clock,
  };
}

/** A sandbox is for trying things out, from pages too. */
function corsPolicy({ config, sandbox }: AppOptions): CorsPolicy | undefined {
  const { cors } = config.server;
  if (cors !== undefined) return { origins: cors.origins, maxAgeMs: cors.max_age };
  return sandbox.size === 0 ? undefined : { origins: ["*"], maxAgeMs: SANDBOX_CORS_MS };
}

/** Time-outs and leases use a monotonic clock: a clock that jumped would end every stream, or renew no hold. */
const monotonic = (): number => performance.now();

/** Submits the ends that earlier processes could not write to the ledger. */
function submitLeftEnds(deps: EndDependencies, logger: Logger): void {
  const ends = deps.journal.takeOver();
  if (ends.length > 0) logger.info({ ends: ends.length }, "submits the ends in the journal");
  for (const end of ends) void endHold(deps, end);
}

function createAuthenticator({ storage, environment }: AppOptions): Authenticator {
  return new Authenticator({
    store: openTokenStore(storage),
    clientSecrets: openClientSecretStore(storage),
    clock: environment.clock,
    onChange: (forget) => storage.onForeignCommit(forget),
  });
}

function startTimers({ catalogs = builtInLayers(), environment, logger }: AppOptions, ledger: Ledger): RunningPart[] {
  return [
    { stop: sweep(ledger, environment, logger) },
    { stop: reportPrices({ catalogs, clock: environment.clock, logger }) },
  ];
}

function sweep(ledger: Ledger, environment: Environment, logger: Logger): () => void {
  return startSweeper({
    ledger,
    clock: environment.clock,
    onExpired: (count) => logger.warn({ holds: count }, "ended holds whose process stopped renewing them"),
    onError: (reason) => logger.error({ reason: String(reason) }, "sweep failed"),
  });
}

interface ServiceParts extends LedgerParts {
  calls: PaidWork;
  pipeline: CallPipeline;
  videos: VideoJobs;
  background: BackgroundResponses;
  store: LedgerStore;
  objectOwners: ObjectOwnerStore;
  webhooks: Webhooks;
  web: Web;
  outbound: Outbound;
  publicUrl: string;
  isDraining: () => boolean;
}

function servicesOf(options: AppOptions, parts: ServiceParts): Services {
  const { config, sandbox, storage, version, environment, logger } = options;
  const { clock } = environment;
  const { calls, pipeline, router, ticker, storedObjects } = parts;
  const { videos, background, store, objectOwners, webhooks, web, isDraining } = parts;
  const responses = openResponseStore(storage);
  const conversations = createConversations(options);
  const admit: AdmitFree = (call) => admitFree(calls.work, call);
  const asking = { environment, send: calls.send, observer: calls.observer, memory: calls.memory, ticker };
  return {
    clock,
    logger,
    pipeline,
    router,
    responses,
    storedObjects,
    objectOwners,
    videos,
    background,
    webhooks,
    web: web.access,
    crawls: web.crawls,
    screenshots: web.screenshots,
    storedBytes: web.storedBytes,
    textIndex: web.textIndex,
    version,
    isDraining,
    checkStorage: sharedCheck(() => storage.check(), clock),
    accounts: store,
    generations: openGenerationStore(storage),
    models: createModelList(options, router),
    conversations,
    responseStore: new ResponseStoreService({ responses, conversations, clock }),
    asking,
    admitFree: admit,
    files: new FileService({
      admitFree: admit,
      asking,
      router,
      clock,
      logger,
      owners: objectOwners,
      store: openFileStore(storage),
      upload: { bytesMax: config.files.upload_limit, arrivalMsMax: config.files.upload_timeout },
      quota: { filesMax: config.files.per_user_max, bytesMax: config.files.bytes_per_user_max },
    }),
    realtime: createRealtime(options, parts),
    responsesSockets: responsesSocketsOf(options),
    memory: calls.memory,
    outbound: parts.outbound,
    mcp: mcpOf(options, parts),
    body: calls.body,
    largeBodies: calls.largeBodies,
    sandboxed: [...sandbox.keys()],
    document: documentOf(options),
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

function mcpOf({ config, environment }: AppOptions, { ticker, publicUrl }: ServiceParts): Services["mcp"] {
  const { host, cors } = config.server;
  return {
    endpoint: new McpEndpoint({ ticker, randomBytes: environment.randomBytes }),
    models: config.mcp.models,
    origins: { isLocal: LOOPBACK.test(host), publicUrl, origins: cors?.origins ?? [] },
    ticker,
    publicUrl,
  };
}

function responsesSocketsOf({
  config: { responses, upstream },
  environment,
}: AppOptions): Services["responsesSockets"] {
  return {
    isOffered: responses.websocket,
    limit: new SessionLimit(responses.sockets_per_token),
    connectionMsMax: responses.socket_max,
    messagesPerSecondMax: responses.messages_per_second,
    newAsker: () => new SocketAsker({ ...environment, openMsMax: upstream.connect_timeout }),
  };
}

function createConversations({ storage, environment: { clock, randomBytes } }: AppOptions): Conversations {
  return new Conversations({ store: openConversationStore(storage), clock, randomBytes });
}

function documentOf({ config: { server, providers }, address }: AppOptions): Services["document"] {
  const makesVideos = Object.entries(providers).filter(([, { kind }]) => kind === "openai" || kind === "xai");
  return publishedDocument({
    publicUrl: server.public_url ?? address,
    betaUrl: server.beta_url ?? (address.startsWith("http:") ? address : undefined),
    videoProviders: makesVideos.map(([prefix]) => prefix),
  });
}

function createRealtime(
  { config, environment, storage }: AppOptions,
  { calls, ticker, router }: ServiceParts,
): RealtimeSessions {
  return new RealtimeSessions({
    environment,
    work: calls.work,
    send: calls.send,
    observer: calls.observer,
    ticker,
    router,
    clientSecrets: openClientSecretStore(storage),
    limit: new SessionLimit(config.realtime.sessions_per_token),
    bounds: {
      sessionMsMax: config.realtime.session_max,
      idleMsMax: config.realtime.idle_timeout,
      stalledMsMax: config.realtime.stalled_timeout,
      messagesPerSecondMax: config.realtime.messages_per_second,
      connectMsMax: config.realtime.connect_timeout,
    },
  });
}
