import type { AccountsDependencies } from "../accounts/index.ts";
import type { AlertStore, OwnAlerts } from "../alerts/index.ts";
import type { OpenAnswers, Principal } from "../auth/index.ts";
import type { BatchDirectory, Batches } from "../batches/index.ts";
import type { BodyLimits } from "../bodies/index.ts";
import type { HostedLoops, LargeBodies } from "../calls/index.ts";
import type { AdmitFree } from "../charges/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../core/index.ts";
import type { FileService } from "../files/index.ts";
import type { GenerationStore } from "../generations/index.ts";
import type { JobStore } from "../jobs/index.ts";
import type { LedgerStore } from "../ledger/index.ts";
import type { McpEndpoint, OriginPolicy } from "../mcp/index.ts";
import type { NodeStore } from "../nodes/index.ts";
import type { ListPrice, ModelList, ModelRouter, PricePage, TargetStore } from "../routing/index.ts";
import type { RealtimeSessions, SessionDirectory } from "../realtime/index.ts";
import type { Conversations, KeptThoughts, ObjectOwnerStore, ResponseStore, StoredObjects } from "../objects/index.ts";
import type { AskDependencies } from "../sending/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { MemoryBudget, Ticker } from "../streaming/index.ts";
import type { VideoJobs } from "../videos/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Connections, ConnectionSignIns, InterruptedCalls, RequestStates, ToolGateway } from "../tools/index.ts";
import type { Webhooks, WebhookSecrets } from "../webhooks/index.ts";
import type { Crawls, Screenshots, StoredBytesStore, TextIndexStore, WebAccess } from "../web/index.ts";
import type { ChargeableServices } from "./chargeable.ts";
import type { TableReader } from "./rows/table-reader.ts";
import type { SignInServices } from "./sign-in/services.ts";
import type { ResponsesSocketSettings } from "./responses/responses-sockets.ts";

/** How accounts at a server are connected. */
export interface Connectable {
  /** By a secret that the owner gives, or by a sign-in at the server's authorization server. */
  way: "secret" | "sign-in";
  /** Whether each user has accounts of their own, or all use the operator's. */
  of: "operator" | "user";
}

/** Sign-ins at authorization servers of servers of tools. */
export type ConnectionSignInServices = Pick<ConnectionSignIns, "begin" | "finish" | "revoke">;

/** The parts that tools need. */
export interface McpServices {
  endpoint: McpEndpoint;
  /** The default models of tools. */
  models: Config["mcp"]["models"];
  /** The tokens of a list above which clients get tools that search it. */
  searchAbove: number | undefined;
  /** Other servers. */
  gateway: ToolGateway;
  /** Of requests in which a server has asked the client. */
  requestStates: RequestStates;
  /** Requests that servers have interrupted with questions. */
  interruptedCalls: InterruptedCalls;
  /** Calls back when another configuration is in force. Returns a function that ends that. */
  onRetire: (callback: () => void) => () => void;
  retire: () => void;
  openAnswers: Pick<OpenAnswers, "add" | "remove">;
  connections: Connections;
  /** The servers at which accounts are connected. */
  connectable: ReadonlyMap<string, Connectable>;
  signIns: ConnectionSignInServices;
  origins: OriginPolicy;
  ticker: Ticker;
  /** The address for callers. */
  publicUrl: string;
}

/** The services that `app.ts` creates for the features. Each route declares the ones that it needs. */
export interface Services extends ChargeableServices {
  clock: Clock;
  logger: Logger;
  accounts: LedgerStore;
  /** The dependencies of acts on accounts, without their caller. */
  admin: Omit<AccountsDependencies, "caller">;
  /** For public routes that say more to some callers. Throws or rejects as for others. */
  authenticate: (request: Request) => Principal | Promise<Principal>;
  nodes: Pick<NodeStore, "seenSince" | "ask">;
  /** The network address of a request's sender: a proxy's, if there is one in front. */
  addressOf: (request: Request) => string | undefined;
  generations: GenerationStore;
  /** Long tables, as files. */
  tables: TableReader;
  models: ModelList;
  router: ModelRouter;
  /** The prices in force, before markup. */
  listPrices: (page: PricePage) => ListPrice[];
  responses: ResponseStore;
  conversations: Conversations;
  objectOwners: ObjectOwnerStore;
  storedObjects: StoredObjects;
  keptThoughts: Pick<KeptThoughts, "deleteExpired">;
  asking: AskDependencies;
  admitFree: AdmitFree;
  webhooks: Webhooks;
  /** Of the configuration in force. */
  config: Config;
  /** `read`: lets this process learn of a change that it has made. */
  targets: Pick<TargetStore, "overrides" | "statesSince"> & { read: () => Promise<void> };
  jobs: Pick<JobStore, "list">;
  alerts: Pick<AlertStore, "active">;
  /** Of users about their own budgets. */
  ownAlerts: Pick<OwnAlerts, "look">;
  webhookSecrets: Pick<WebhookSecrets, "make" | "rotate">;
  body: BodyLimits;
  largeBodies: LargeBodies;
  hosted: Pick<HostedLoops, "opened">;
  videos: VideoJobs;
  files: FileService;
  batches: Batches;
  realtime: RealtimeSessions;
  /** Of all processes. */
  sessionDirectory: SessionDirectory;
  /** Of all users. */
  batchDirectory: BatchDirectory;
  web: WebAccess;
  crawls: Crawls;
  textIndex: TextIndexStore;
  screenshots: Screenshots;
  storedBytes: StoredBytesStore;
  responsesSockets: ResponsesSocketSettings;
  memory: MemoryBudget;
  outbound: Outbound;
  mcp: McpServices;
  signIn: SignInServices;
  /** Rejects with `storage_unavailable` if the storage does not answer, or takes no writes. */
  checkStorage: () => Promise<void>;
  /** Those of the configuration in force, for connections that outlive one. */
  latest: () => Pick<Services, "pipeline" | "router">;
  /** Whether the server is stopping. */
  isDraining: () => boolean;
  /** The gateway's version. */
  version: string;
  /** Prefixes of the providers answered by simulators. */
  sandboxed: readonly string[];
  /** The OpenAPI document, as the text of its JSON. */
  document: () => Promise<string>;
}
