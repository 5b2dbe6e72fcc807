import { readAsProject } from "../accounts/index.ts";
import { createAccounts } from "./accounts.ts";
import { storesOf } from "./stores.ts";
import {
  changedProviders,
  createModelList,
  createModelRouter,
  createPriceBook,
  type RoutingOptions,
} from "./routing/routing.ts";
import { createBatches } from "./batches.ts";
import { createHosted } from "./tools/hosted.ts";
import type { HostedTools } from "../hosted/index.ts";
import { createJobs } from "./jobs.ts";
import { drain } from "./drain.ts";
import { reportPrices } from "./report-prices.ts";
import { InForce } from "./in-force.ts";
import { createLasting, type Lasting } from "./lasting.ts";
import { createPaidWork, type PaidWork } from "./paid-work.ts";
import { connectableServers, createConnections, createToolSignIns } from "./tools/connections.ts";
import { retiring } from "./tools/retiring.ts";
import { createToolGateway } from "./tools/tools.ts";
import { createWeb, type Web } from "./web.ts";
import { createSignIns } from "./identity/sign-ins.ts";
import { createSignedCallers } from "./identity/signed-callers.ts";
import { createOutbound } from "./webhooks.ts";
import type { AccountsDependencies } from "../accounts/index.ts";
import type { OwnAlerts } from "../alerts/index.ts";
import { openBrowserSessionStore, openClientSecretStore } from "../auth/index.ts";
import { BatchDirectory, type Batches } from "../batches/index.ts";
import { CallPipeline } from "../calls/index.ts";
import type { Config } from "../config/index.ts";
import { admitFree, type AdmitFree } from "../charges/index.ts";
import { Places } from "../core/index.ts";
import { FileService } from "../files/index.ts";
import {
  type CorsPolicy,
  createHttp,
  type Feature,
  features as allFeatures,
  mountFeatures,
  type RunningPart,
  type Services,
  sharedCheck,
  startFeatures,
  type Upgrade,
  withCors,
} from "../http/index.ts";
import type { GaugeSources, MetricFamily } from "../metrics/index.ts";
import { publishedDocument } from "../openapi/index.ts";
import {
  type BackgroundResponses,
  Conversations,
  openConversationStore,
  openResponseStore,
  ResponseStoreService,
  openFileStore,
} from "../objects/index.ts";
import { builtInLayers, type CatalogLayers } from "../pricing/index.ts";
import { openJobStore } from "../jobs/index.ts";
import { RealtimeSessions, SessionDirectory } from "../realtime/index.ts";
import type { Outbound } from "../outbound/index.ts";
import { listPrices, type ModelRouter, modelWithin, openTargetStore } from "../routing/index.ts";
import type { Storage } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { SocketAsker } from "../upstream/index.ts";
import type { VideoJobs } from "../videos/index.ts";
import type { Webhooks, WebhookSecrets } from "../webhooks/index.ts";
import type { HostAddress } from "../tools/index.ts";

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
  /** The network address that a request came from. */
  addressOf?: (request: Request) => string | undefined;
  /** The server's function for accepting a WebSocket. */
  upgrade: Upgrade;
  /** The process that owns the servers of tools that are programs; without it there can be none. */
  toolHost?: HostAddress | undefined;
  /** The HTTP features; all of them by default. */
  features?: readonly Feature[];
  /** Instead of `server.drain`. */
  drainMsMax?: number;
}

/** The part of the options that a reload may change: nothing that needs a restart. */
type NextConfiguration = Pick<AppOptions, "config" | "missingKeys" | "sandbox" | "catalogs">;

export interface App {
  fetch: (request: Request) => Response | Promise<Response>;
  /** Puts a checked configuration into force. Calls under way keep theirs. Throws a `ConfigError` if it changes nothing. */
  reconfigure(next: NextConfiguration): void;
  /** The readiness fails from now on, so that load balancers send no more calls; those that come are taken. */
  leave(): void;
  /**
   * Refuses new calls, waits (within a bound) for the open ones, commits the remaining operations, stops the timers.
   * Returns the number of calls whose end neither the storage nor the journal accepted; each of them is in the log.
   */
  drain(how?: { atOnce?: boolean }): Promise<number>;
  /** The metrics of this process; empty if the configuration has none. */
  metrics(): Promise<readonly MetricFamily[]>;
}

/** The composition root: the only place that creates the parts and connects them. */
export function createApp(options: AppOptions): App {
  const { config, logger, environment, drainMsMax = config.server.drain } = options;
  const lasting = createLasting(options);
  let [isLeaving, draining] = [false, false];
  const context: Context = {
    lasting,
    isDraining: () => draining,
    isLeaving: () => isLeaving,
    latest: () => inForce.current,
  };
  const inForce = new InForce(configure(options, context), { beginMsMax: config.server.body_timeout, logger });
  const catalogs = (): CatalogLayers => inForce.current.catalogs;
  const { metrics, ticker, circuits, targets, tracing } = lasting;
  const running = [
    ...lasting.running,
    targets.share(circuits, () => inForce.current.router.routes),
    { stop: reportPrices({ catalogs, clock: environment.clock, logger }) },
  ];
  metrics?.watch(gaugeSources(options, lasting, inForce));
  tracing?.watch(() => inForce.current.config);
  return {
    fetch: withCors((request) => inForce.current.answer(request), corsPolicy(options)),
    reconfigure: (next) => inForce.replace(configure({ ...options, ...next }, context, inForce.current)),
    metrics: async () => (await metrics?.families()) ?? [],
    leave: () => void (isLeaving = true),
    async drain({ atOnce = false } = {}) {
      [isLeaving, draining] = [true, true];
      const parts = [...inForce.all.flatMap((each) => each.running), ...running];
      const lost = await drain({ ...lasting, parts, drainMsMax: atOnce ? 0 : drainMsMax, logger });
      ticker.stop();
      metrics?.stop();
      await tracing?.close();
      return lost;
    },
  };
}

/** Shared by the parts of all configurations. */
interface Context {
  lasting: Lasting;
  isDraining: () => boolean;
  /** Whether it will soon refuse calls. */
  isLeaving: () => boolean;
  /** Those in force. */
  latest: () => Pick<Configured, "pipeline" | "router" | "catalogs">;
}

/** The parts that one configuration makes. */
interface Configured {
  config: Config;
  catalogs: CatalogLayers;
  router: ModelRouter;
  pipeline: CallPipeline;
  calls: PaidWork;
  web: Web;
  batches: Batches;
  toolCalls: Places;
  answer: (request: Request) => Response | Promise<Response>;
  running: readonly RunningPart[];
}

/** Creates them, and starts those that run by themselves. The router comes first: a checked configuration may still fail there. */
function configure(options: AppOptions, context: Context, before?: Configured): Configured {
  const { config, catalogs = builtInLayers(), environment, logger, features = allFeatures } = options;
  const { lasting, isDraining } = context;
  const { ticker, authenticator, sockets, sessionLimits, pages } = lasting;
  const router = createRouter(options, lasting, before);
  const publicUrl = config.server.public_url ?? options.address;
  authenticator.acceptSigned(createSignedCallers(options));
  if (authenticator.sessions !== undefined)
    authenticator.sessions.settings = {
      publicUrl,
      idleMs: config.auth.sessions.idle,
      signIns: new Set(Object.keys(config.auth.sign_in)),
    };
  sessionLimits.realtime.max = config.realtime.sessions_per_token;
  sessionLimits.responses.max = config.responses.sockets_per_token;
  const outbound = createOutbound(config, environment);
  const calls = createPaidWork({ ...options, router, outbound }, lasting);
  const later = () => ({ pipeline, web: web.access, services });
  const hosted = createHosted({ ...options, calls, publicUrl, later });
  const pipeline = new CallPipeline({ ...calls, hosted });
  const admin = { ...createAccounts(options.storage, environment, "server", () => authenticator.forget()), logger };
  const common = { ...options, calls, outbound, publicUrl };
  const { jobs, handle, wake, startJob, ...jobParts } = createJobs({
    ...common,
    lasting,
    log: admin.log,
    catalogs: () => context.latest().catalogs,
  });
  const { webhooks, alerts, retention } = jobParts;
  const made = { ...common, pipeline, webhooks, handle, ticker };
  const web = createWeb({ ...made, startJob, pages, before: before?.web });
  const responseStore = createResponseStore(options);
  const batches = createBatches({ ...made, responseStore, wake });
  const toolCalls = new Places({ what: "calls of tools", places: config.mcp.calls });
  const own = { admin, batches, responseStore, calls, hosted, pipeline, router, web, toolCalls };
  const parts = { ...jobParts, ...own, outbound, publicUrl };
  const services = servicesOf(options, context, parts);
  const answer = createHttp({
    routes: mountFeatures(features, services),
    authenticator,
    sockets,
    environment,
    logger,
    groups: {
      withPrefix: (prefix) => router.withPrefix(prefix),
      modelWithin: (prefix, model) => modelWithin(router, prefix, model),
    },
    publicUrl,
    draining: isDraining,
    readAsProject: (caller, project) => readAsProject(services.admin, caller, project),
  });
  const further = [alerts, retention].filter((part) => part !== undefined);
  const tools = { retire: services.mcp.retire };
  const running = [calls.shell, jobs, ...further, web, tools, ...startFeatures(features, services)];
  return { config, catalogs, router, pipeline, calls, web, batches, toolCalls, answer, running };
}

/** The router. Failures of providers that differ from those before are forgotten. */
function createRouter(
  options: AppOptions,
  { circuits, targets, alertCounts }: Lasting,
  before: Configured | undefined,
): ModelRouter {
  const { overrides, onKeyChange } = targets;
  const onUnpriced = options.config.alerts && ((name: string): void => alertCounts.counts().unpriced(name));
  const router = createModelRouter({ ...options, overrides, onKeyChange, onUnpriced }, before);
  for (const { prefix, keys } of changedProviders(router, before?.router)) {
    circuits.forget(prefix);
    // Those of the new configuration have not been asked yet.
    for (const key of keys.refused) onKeyChange?.(prefix, key, "works");
  }
  return router;
}

/** The parts whose state is measured. */
function gaugeSources(
  { environment: { clock }, storage }: AppOptions,
  { sockets, memory, circuits, unsettled, journal, store, tracing }: Lasting,
  inForce: InForce<Configured>,
): GaugeSources {
  const jobs = openJobStore(storage);
  return {
    calls: {
      get active() {
        return inForce.all.reduce((sum, { calls }) => sum + calls.shell.active, 0);
      },
    },
    sockets,
    get queues() {
      const { web, batches, toolCalls } = inForce.current;
      return { ...web.queues, batch_lines: batches.load, tool_calls: toolCalls };
    },
    memory,
    circuits,
    unsettled,
    journal,
    spans: tracing?.spans,
    held: () => store.books.held(),
    dueJobs: () => jobs.dueBefore(clock(), clock()),
    catalogDays: () => inForce.current.catalogs.age(clock())?.days,
    now: clock,
  };
}

/** A sandbox is for trying things out, from pages too. */
function corsPolicy({ config, sandbox }: AppOptions): CorsPolicy | undefined {
  const { cors } = config.server;
  if (cors !== undefined) return { origins: cors.origins, maxAgeMs: cors.max_age };
  return sandbox.size === 0 ? undefined : { origins: ["*"], maxAgeMs: SANDBOX_CORS_MS };
}

interface ServiceParts extends Pick<Configured, "calls" | "pipeline" | "router" | "web" | "toolCalls"> {
  hosted: HostedTools;
  admin: AccountsDependencies;
  batches: Batches;
  responseStore: ResponseStoreService;
  videos: VideoJobs;
  background: BackgroundResponses;
  webhooks: Webhooks;
  webhookSecrets: WebhookSecrets;
  ownAlerts: OwnAlerts;
  outbound: Outbound;
  publicUrl: string;
}

function servicesOf(options: AppOptions, { lasting, isLeaving, latest }: Context, parts: ServiceParts): Services {
  const { sandbox, storage, version, environment, logger } = options;
  const { clock } = environment;
  const { ticker, storedObjects, keptThoughts, store, objectOwners } = lasting;
  const { calls, pipeline, router, videos, background, webhooks, web, batches, responseStore } = parts;
  const responses = openResponseStore(storage);
  const admit: AdmitFree = (call) => admitFree(calls.work, call);
  const asking = { environment, send: calls.send, observer: calls.observer, memory: calls.memory, ticker };
  return {
    clock,
    logger,
    pipeline,
    router,
    responses,
    storedObjects,
    keptThoughts,
    objectOwners,
    videos,
    background,
    webhooks,
    webhookSecrets: parts.webhookSecrets,
    ownAlerts: parts.ownAlerts,
    web: web.access,
    crawls: web.crawls,
    screenshots: web.screenshots,
    storedBytes: web.storedBytes,
    textIndex: web.textIndex,
    version,
    latest,
    isDraining: isLeaving,
    checkStorage: sharedCheck(() => storage.check(), clock),
    authenticate: (request) => lasting.authenticator.authenticate(request.headers, undefined, ofSession(request)),
    ...storesOf(storage, parts.admin, lasting.tablesThread),
    config: options.config,
    listPrices: (page) => listPrices(router.routes, createPriceBook(options), page),
    targets: { ...openTargetStore(storage), read: () => lasting.targets.read() },
    accounts: store,
    admin: parts.admin,
    addressOf: options.addressOf ?? (() => undefined),
    models: createModelList(options, router),
    conversations: createConversations(options),
    responseStore,
    batches,
    asking,
    admitFree: admit,
    files: filesOf(options, { admitFree: admit, asking, router, owners: objectOwners, kept: batches.files }),
    realtime: createRealtime(options, lasting, parts),
    ...directoriesOf({ storage, clock, log: parts.admin.log }),
    responsesSockets: responsesSocketsOf(options, lasting),
    memory: calls.memory,
    outbound: parts.outbound,
    mcp: mcpOf(options, lasting, parts),
    signIn: signInOf(options, lasting, parts.publicUrl),
    body: calls.body,
    largeBodies: calls.largeBodies,
    hosted: parts.hosted,
    sandboxed: [...sandbox.keys()],
    document: documentOf(options),
  };
}

/** What operators see of all users, on all nodes. */
function directoriesOf(
  options: ConstructorParameters<typeof BatchDirectory>[0],
): Pick<Services, "batchDirectory" | "sessionDirectory"> {
  return { batchDirectory: new BatchDirectory(options), sessionDirectory: new SessionDirectory(options) };
}

function filesOf(
  { config: { files }, storage, environment: { clock }, logger }: AppOptions,
  parts: Pick<ConstructorParameters<typeof FileService>[0], "admitFree" | "asking" | "router" | "owners" | "kept">,
): FileService {
  return new FileService({
    ...parts,
    clock,
    logger,
    store: openFileStore(storage),
    upload: { bytesMax: files.upload_limit, arrivalMsMax: files.upload_timeout },
    quota: { filesMax: files.per_user_max, bytesMax: files.bytes_per_user_max },
  });
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

function mcpOf(
  options: AppOptions,
  { ticker, mcp, toolQuestions, openAnswers }: Lasting,
  { calls, admin, publicUrl, toolCalls }: ServiceParts,
): Services["mcp"] {
  const { config } = options;
  const connections = createConnections({ ...options, log: admin.log, publicUrl });
  const signIns = createToolSignIns({ ...options, connections, publicUrl });
  const { host, cors } = config.server;
  return {
    endpoint: mcp,
    models: config.mcp.models,
    searchAbove: config.mcp.search_above,
    gateway: createToolGateway({
      ...options,
      toolHost: options.toolHost,
      ticker,
      calls,
      connections,
      signIns,
      places: toolCalls,
    }),
    requestStates: toolQuestions.requestStates,
    interruptedCalls: toolQuestions.interruptedCalls,
    ...retiring(),
    openAnswers,
    connections,
    connectable: connectableServers(config),
    signIns,
    origins: { isLocal: LOOPBACK.test(host), publicUrl: new URL(publicUrl), origins: cors?.origins ?? [] },
    ticker,
    publicUrl,
  };
}

/** The sessions of browsers count as they do for other routes. */
function ofSession(request: Request) {
  return { request, path: new URL(request.url).pathname };
}

function signInOf(options: AppOptions, lasting: Lasting, publicUrl: string): Services["signIn"] {
  const { config, sandbox, storage } = options;
  const { authenticator, signInAttempts: attempts } = lasting;
  const { idle, max } = config.auth.sessions;
  const store = openBrowserSessionStore(storage);
  const issuers = createSignIns({ ...options, publicUrl });
  return { publicUrl, authenticator, attempts, store, idleMs: idle, msMax: max, isSandbox: sandbox.size > 0, issuers };
}

function responsesSocketsOf(
  { config: { responses, upstream }, environment }: AppOptions,
  { sessionLimits }: Lasting,
): Services["responsesSockets"] {
  return {
    isOffered: responses.websocket,
    limit: sessionLimits.responses,
    connectionMsMax: responses.socket_max,
    messagesPerSecondMax: responses.messages_per_second,
    newAsker: () => new SocketAsker({ ...environment, openMsMax: upstream.connect_timeout }),
  };
}

function createResponseStore(options: AppOptions): ResponseStoreService {
  const { storage, environment } = options;
  const conversations = createConversations(options);
  return new ResponseStoreService({ responses: openResponseStore(storage), conversations, clock: environment.clock });
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
  { ticker, sessionLimits, openSessions }: Lasting,
  { calls, router }: ServiceParts,
): RealtimeSessions {
  return new RealtimeSessions({
    environment,
    work: calls.work,
    send: calls.send,
    observer: calls.observer,
    ticker,
    router,
    circuits: calls.circuits,
    busy: calls.busy,
    routeLimits: calls.routeLimits,
    clientSecrets: openClientSecretStore(storage),
    limit: sessionLimits.realtime,
    openSessions,
    bounds: {
      sessionMsMax: config.realtime.session_max,
      idleMsMax: config.realtime.idle_timeout,
      stalledMsMax: config.realtime.stalled_timeout,
      messagesPerSecondMax: config.realtime.messages_per_second,
      connectMsMax: config.realtime.connect_timeout,
    },
  });
}
