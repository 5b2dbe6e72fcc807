/** The admin routes on a storage, without a socket. */
import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { type AccountsDependencies, readAsProject } from "../../../accounts/index.ts";
import {
  Authenticator,
  openBrowserSessionStore,
  openClientSecretStore,
  openImportedKeyStore,
  openTokenStore,
  type Principal,
} from "../../../auth/index.ts";
import { BatchDirectory, openBatchStore, openKeptFileStore } from "../../../batches/index.ts";
import { openAlertStore } from "../../../alerts/index.ts";
import { loadConfig } from "../../../config/index.ts";
import { openGenerationStore } from "../../../generations/index.ts";
import { openJobStore } from "../../../jobs/index.ts";
import { openNodeStore } from "../../../nodes/index.ts";
import { PriceBook } from "../../../pricing/index.ts";
import { createProvider } from "../../../providers/index.ts";
import { openSessionStore, SessionDirectory } from "../../../realtime/index.ts";
import { KeyPool, ModelList, ModelRouter, openTargetStore } from "../../../routing/index.ts";
import type { Storage } from "../../../storage/index.ts";
import { MemoryBudget } from "../../../streaming/index.ts";
import { createAccounts } from "../../../../test/kit/accounts.ts";
import { openStorage } from "../../../../test/kit/storage.ts";
import { createHttp } from "../../create-http.ts";
import { mountFeatures } from "../../feature.ts";
import { SignInAttempts } from "../../sign-in/attempts.ts";
import type { SignInServices } from "../../sign-in/services.ts";
import { sessionRoutes } from "../../sign-in/session-routes.ts";
import { Sockets } from "../../sockets.ts";
import { adminRoutes } from "../admin-routes.ts";
import { operatorRoutes } from "../operator/index.ts";
import type { OperatorNeeds } from "../operator/operator-needs.ts";

export interface Asked {
  /** Text is sent as it is. */
  body?: object | string | Uint8Array | undefined;
  headers?: Record<string, string>;
}

export class AdminServer {
  readonly storage: Storage;
  /** Of commands, which have all rights. */
  readonly deps: AccountsDependencies;
  /** The clock, in milliseconds. */
  now = 1_000_000;
  /** Of all senders. */
  address = "192.0.2.7";
  readonly authenticator: Authenticator;
  readonly #fetch: (request: Request) => Response | Promise<Response>;

  private constructor(storage: Storage) {
    this.storage = storage;
    const clock = (): number => this.now;
    const environment = { clock, randomBytes: (size: number) => randomBytes(size) };
    this.deps = createAccounts(storage, environment, "cli:test");
    const logger = pino({ level: "silent" });
    const memory = new MemoryBudget(1e9);
    this.authenticator = new Authenticator({
      store: openTokenStore(storage),
      clientSecrets: openClientSecretStore(storage),
      sessions: openBrowserSessionStore(storage),
      importedKeys: openImportedKeyStore(storage),
      clock,
      onChange: () => undefined,
    });
    const publicUrl = "http://gateway.test";
    const idleMs = 2 * 3_600_000;
    const signIns = new Set(["firm"]);
    if (this.authenticator.sessions !== undefined) this.authenticator.sessions.settings = { publicUrl, idleMs, signIns };
    const ticker = { now: () => 0, watch: () => undefined, leave: () => undefined };
    const openai = {
      prefix: "openai",
      aliases: [],
      provider: createProvider({ kind: "openai", baseUrl: "https://api.openai.test/v1" }),
      baseUrl: "https://api.openai.test/v1",
      keys: new KeyPool([{ secret: "sk-of-the-operator" }], clock),
      sandbox: false,
      sharedStores: false,
      listing: { listed: [] },
      requiredVariable: undefined,
    };
    const needs: OperatorNeeds & { signIn: SignInServices } = {
      admin: this.deps,
      addressOf: () => this.address,
      signIn: {
        publicUrl,
        authenticator: this.authenticator,
        attempts: new SignInAttempts(clock),
        store: openBrowserSessionStore(storage),
        idleMs,
        msMax: 12 * 3_600_000,
        isSandbox: true,
        issuers: new Map(),
      },
      body: { bytesMax: 1e7, arrivalMsMax: 1e4, ticker },
      memory,
      clock,
      generations: openGenerationStore(storage),
      nodes: openNodeStore(storage),
      batchDirectory: new BatchDirectory({ storage, log: this.deps.log, clock }),
      sessionDirectory: new SessionDirectory({ storage, log: this.deps.log, clock }),
      isDraining: () => false,
      authenticate: (request) =>
        this.authenticator.authenticate(request.headers, undefined, { request, path: new URL(request.url).pathname }),
      config: loadConfig({ file: "tollgate.yaml", text: "{}", variables: { OPENAI_API_KEY: "sk-of-the-operator" } }).config,
      router: new ModelRouter([openai], new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock })),
      listPrices: () => [],
      models: new ModelList({
        routes: [],
        priced: [],
        environment: { clock, fetch: () => Promise.reject(new Error("nothing is fetched")) },
        onFailure: () => undefined,
      }),
      targets: { ...openTargetStore(storage), read: () => Promise.resolve() },
      jobs: openJobStore(storage),
      alerts: openAlertStore(storage),
      crawls: { list: () => Promise.resolve([]) },
    };
    this.#fetch = createHttp({
      routes: mountFeatures([{ routes: [...adminRoutes, ...operatorRoutes, ...sessionRoutes] }], needs),
      groups: { withPrefix: () => undefined, modelWithin: (_prefix, model) => model },
      authenticator: this.authenticator,
      sockets: new Sockets({ upgrade: () => false, logger, memory, openAnswers: { add() {}, remove() {} } }),
      environment,
      logger,
      publicUrl,
      draining: () => false,
      readAsProject: (caller, project) => readAsProject(this.deps, caller, project),
    });
  }

  static async open(url = "sqlite::memory:"): Promise<AdminServer> {
    return new AdminServer(await openStorage(url));
  }

  async close(): Promise<void> {
    await this.storage.close();
  }

  /** The caller with this token, as it is in the store now: the authenticator caches a token for less than a second. */
  async principalOf(token: string): Promise<Principal> {
    this.now += 1_000;
    return this.authenticator.authenticate(new Headers({ authorization: `Bearer ${token}` }));
  }

  /** The answer of a GET as it is. */
  async fetch(path: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    this.now += 1_000;
    return this.#fetch(new Request(`http://gateway.test${path}`, { headers, ...(signal !== undefined && { signal }) }));
  }

  /** The answer to any request. */
  async send(request: Request): Promise<Response> {
    this.now += 1_000;
    return this.#fetch(request);
  }

  async ask(token: string, route: string, { body, headers = {} }: Asked = {}) {
    this.now += 1_000;
    const [method = "", path = ""] = route.split(" ");
    const answer = await this.#fetch(
      new Request(`http://gateway.test${path}`, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      }),
    );
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    const json = (isJson ? await answer.json() : { text: await answer.text() }) as Record<string, unknown> & {
      error?: { code: string; param: string | null; message: string };
    };
    return { status: answer.status, code: json.error?.code, etag: answer.headers.get("etag"), json };
  }
}

/** A session of nobody who is known, open now. */
export function addSession({ storage, now }: AdminServer, id: string): Promise<void> {
  const seen = { openedAt: now, seenAt: now, endAskedAt: undefined };
  const whose = { owner: "nobody", accountId: "user:nobody", tokenId: "t", endUser: undefined };
  const session = { id, type: "realtime" as const, model: "openai/gpt-realtime", node: "gw:1", process: "p" };
  return openSessionStore(storage).add([{ ...session, ...whose, ...seen }]);
}

/** A batch that runs. */
export async function addBatch({ storage, now }: AdminServer, id: string): Promise<void> {
  const none = { total: 1, succeeded: 0, failed: 0, cancelled: 0, expired: 0 };
  const times = { startedAt: now, cancellingAt: undefined, finalizingAt: undefined, endedAt: undefined };
  const batch = {
    ...none,
    ...times,
    id,
    owner: "user",
    tokenId: "t",
    kind: "calls",
    endpoint: "/v1/chat/completions",
    inputFileId: `${id}-input`,
    outputFileId: `${id}-output`,
    errorFileId: `${id}-errors`,
    headers: {},
    metadata: undefined,
    errors: undefined,
    usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
    completionWindow: "24h",
    webhookUrl: undefined,
    model: "openai/m",
    status: "in_progress",
    nativeProvider: "openai",
    nativeNext: 0,
    runToken: "",
    createdAt: now,
    expiresAt: now + 86_400_000,
    keptUntil: now + 1e9,
  } as const;
  const file = { id: `${id}-input`, owner: "user", purpose: "batch", filename: "in.jsonl", isListed: true } as const;
  const kept = { ...file, bytes: 0, parts: 0, createdAt: now, keptUntil: now + 1e9 };
  await openKeptFileStore(storage).begin(kept, { bytes: 0, bytesMax: 1 });
  const job = { id, kind: "batch", owner: "user", payload: {}, runAt: now, createdAt: now };
  await openBatchStore(storage).insert(batch, job, 100);
}
