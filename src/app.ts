import type { AccountsDependencies } from "./accounts/index.ts";
import { openTokenStore, Authenticator } from "./auth/index.ts";
import { CallPipeline, type PipelineDependencies, ResponseKeeper } from "./calls/index.ts";
import { type Config, type ProviderConfig, providerKeys } from "./config/index.ts";
import { type Environment, formatCredits, parseMarkup } from "./core/index.ts";
import {
  chatCompletionsRoute,
  countTokensRoute,
  messagesRoute,
  createHttp,
  embeddingsRoute,
  generationRoute,
  healthRoute,
  imageEditsRoute,
  imageGenerationsRoute,
  modelsRoute,
  responseRoutes,
  responsesRoute,
  openapiRoute,
  speechRoute,
  transcriptionsRoute,
  translationsRoute,
  usageRoute,
  userInfoRoute,
} from "./http/index.ts";
import { openGenerationStore } from "./generations/index.ts";
import { Ledger, type LedgerStore, openLedgerStore, type Release, type Settle, startSweeper } from "./ledger/index.ts";
import { ModelList } from "./models/index.ts";
import { openapiDocument } from "./openapi/index.ts";
import { PriceBook, priceQuote } from "./pricing/index.ts";
import { openResponseStore, type ResponseStore } from "./responses/index.ts";
import { createProvider, type Provider } from "./providers/index.ts";
import { KeyRing, ModelRouter, type UpstreamRoute } from "./routing/index.ts";
import type { Storage } from "./storage/index.ts";
import { Ticker } from "./streaming/index.ts";
import type { Logger } from "./telemetry/index.ts";

/** How often open streams and holds are looked at: keep-alives, silences, leases. */
const TICK_MS = 250;

/** How often responses are looked for that are kept no longer; each time a bounded number goes. */
const FORGET_MS = 60_000;

/** How long open streams may still run once the server is to stop. */
const DRAIN_MS_MAX = 60_000;

/** How long calls that were ended at that bound may take to settle. */
const SETTLE_MS_MAX = 5_000;

/** How long a server that is to stop waits for a storage that is away, so as to write what is still to be charged. */
const STORAGE_MS_MAX = 30_000;

/** How often a draining server looks whether its calls have ended. */
const DRAIN_POLL_MS = 20;

export interface AppOptions {
  config: Config;
  /** Providers without a key, with what to set. */
  missingKeys: ReadonlyMap<string, string>;
  /** Providers that are answered by a simulator: prefix → its base URL. */
  sandbox: ReadonlyMap<string, string>;
  storage: Storage;
  environment: Environment;
  logger: Logger;
  version: string;
  /** Where the server is reached, for the OpenAPI document where the configuration names no address. */
  address: string;
}

export interface App {
  fetch: (request: Request) => Response | Promise<Response>;
  /**
   * Refuses new calls, waits (within a bound) for the open ones, commits what is left, stops the timers. Gives back how
   * many calls' ends the storage did not take; each of them is in the log.
   */
  drain(): Promise<number>;
}

/** The composition root: the only place that builds things and hands them to each other. */
export function createApp(options: AppOptions): App {
  const { config, environment, logger, storage } = options;
  const store = openLedgerStore(storage);
  const ledger = new Ledger({ store });
  const ticker = new Ticker(TICK_MS, monotonic);
  const markupMillionths = parseMarkup(config.pricing.markup);
  const router = createRouter(options);
  const models = createModelList(options, router);
  const unsettled = new Map<string, Settle | Release>();
  const calls = pipelineDependencies(options, { ledger, ticker, markupMillionths, router, unsettled });
  const pipeline = new CallPipeline(calls);
  const authenticator = createAuthenticator(options);
  const responses = openResponseStore(storage);
  const stopSweeper = sweep(ledger, environment, logger);
  const stopForgetting = forgetRegularly(responses, environment, logger);
  let draining = false;
  const fetch = createHttp({
    routes: routesOf(options, { calls, pipeline, models, router, markupMillionths, store, responses }),
    authenticator,
    environment,
    logger,
    draining: () => draining,
  });
  return {
    fetch,
    async drain() {
      draining = true;
      pipeline.close();
      await waitUntil(() => pipeline.active === 0, DRAIN_MS_MAX);
      pipeline.abortAll();
      await waitUntil(() => pipeline.active === 0, SETTLE_MS_MAX);
      stopSweeper();
      stopForgetting();
      // What is on its way is in the books as soon as the storage takes it; what fails meanwhile is tried again.
      const flushed = ledger.flush();
      await Promise.race([flushed, Bun.sleep(STORAGE_MS_MAX)]);
      await waitUntil(() => unsettled.size === 0, STORAGE_MS_MAX);
      ticker.stop();
      for (const lost of unsettled.values()) logger.error(lostEnd(lost), "could not be written to the ledger");
      return unsettled.size;
    },
  };
}

/** Waits and leases are measured by a clock that nobody sets: one that jumped would end every stream, or renew no hold. */
const monotonic = (): number => performance.now();

function lostEnd(operation: Settle | Release) {
  const credits = operation.kind === "settle" ? formatCredits(operation.amount) : "0";
  return { request_id: operation.id, kind: operation.kind, credits };
}

/** The merged list of models alone, for a command that needs neither ledger nor server. */
export function createModelList(
  options: RouterOptions & Pick<AppOptions, "logger">,
  router = createRouter(options),
): ModelList {
  const { environment, logger } = options;
  return new ModelList({
    routes: router.routes,
    environment,
    onFailure: (prefix, reason) => logger.warn({ provider: prefix, reason: String(reason) }, "listing failed"),
  });
}

/** What the commands need that administrate accounts: no server, no upstream. */
export function createAccounts(
  storage: Storage,
  environment: AccountsDependencies["environment"],
): AccountsDependencies {
  const accounts = openLedgerStore(storage);
  return { accounts, ledger: new Ledger({ store: accounts }), tokens: openTokenStore(storage), environment };
}

type RouterOptions = Pick<AppOptions, "config" | "missingKeys" | "sandbox" | "environment">;

/** Waits for the condition, no longer than `milliseconds`. */
async function waitUntil(isSo: () => boolean, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (!isSo() && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS);
}

function createRouter({ config, missingKeys, sandbox, environment }: RouterOptions): ModelRouter {
  const prices = new PriceBook({
    operatorPrices: config.pricing.models,
    unpriced: config.pricing.unpriced,
    clock: environment.clock,
  });
  const routes = Object.entries(config.providers).map(([prefix, provider]): UpstreamRoute => {
    const simulator = sandbox.get(prefix);
    const keys = simulator === undefined ? providerKeys(provider) : ["simulated"];
    return {
      prefix,
      aliases: provider.aliases,
      provider: inDialects(createProvider(choiceOf(provider)), provider.dialects),
      baseUrl: simulator ?? provider.base_url,
      keys: new KeyRing(keys, environment.clock),
      sandbox: simulator !== undefined,
      keyToSet: simulator === undefined ? missingKeys.get(prefix) : undefined,
    };
  });
  return new ModelRouter(routes, prices);
}

/** The provider without the operations whose dialect the configuration leaves out; those that have none stay. */
function inDialects(provider: Provider, dialects: readonly string[] | undefined): Provider {
  if (dialects === undefined) return provider;
  const kept = Object.entries(provider.operations).filter(
    ([, { dialect }]) => dialect === undefined || dialects.includes(dialect),
  );
  return { ...provider, operations: Object.fromEntries(kept) };
}

function choiceOf({ kind, preset, base_url: baseUrl }: ProviderConfig) {
  return { kind, preset, baseUrl };
}

interface PipelineParts {
  ledger: Ledger;
  ticker: Ticker;
  markupMillionths: bigint;
  router: ModelRouter;
  unsettled: Map<string, Settle | Release>;
}

function pipelineDependencies({ config, environment, logger }: AppOptions, parts: PipelineParts): PipelineDependencies {
  const { ledger, ticker, markupMillionths, router, unsettled } = parts;
  return {
    environment,
    router,
    logger,
    charges: {
      ledger,
      ticker,
      markupMillionths,
      clock: environment.clock,
      onUnsettled: (id, reason) => logger.error({ request_id: id, reason: String(reason) }, "ledger commit failed"),
      unsettled,
    },
    send: {
      retries: config.upstream.retries,
      retryAfterMsMax: config.upstream.retry_after_max,
      firstByteMsMax: config.upstream.first_byte_timeout,
      idleMsMax: config.upstream.idle_timeout,
    },
    body: { bytesMax: config.server.body_limit, arrivalMsMax: config.server.body_timeout, ticker },
  };
}

function createAuthenticator({ storage, environment }: AppOptions): Authenticator {
  return new Authenticator({
    store: openTokenStore(storage),
    clock: environment.clock,
    onChange: (forget) => storage.onForeignCommit(forget),
  });
}

function sweep(ledger: Ledger, environment: Environment, logger: Logger): () => void {
  return startSweeper({
    ledger,
    clock: environment.clock,
    onExpired: (count) => logger.warn({ holds: count }, "ended holds whose process stopped renewing them"),
    onError: (reason) => logger.error({ reason: String(reason) }, "sweep failed"),
  });
}

/** Now and regularly; several nodes may do so at once. Returns the way to stop. */
function forgetRegularly(responses: ResponseStore, { clock }: Environment, logger: Logger): () => void {
  const forget = (): void => {
    responses.forget(clock()).catch((reason: unknown) => {
      logger.error({ reason: String(reason) }, "forgetting responses failed");
    });
  };
  forget();
  const timer = setInterval(forget, FORGET_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface RouteParts {
  calls: PipelineDependencies;
  pipeline: CallPipeline;
  models: ModelList;
  router: ModelRouter;
  markupMillionths: bigint;
  store: LedgerStore;
  responses: ResponseStore;
}

function routesOf(options: AppOptions, parts: RouteParts) {
  const { config, sandbox, storage, version, environment, address } = options;
  const { clock } = environment;
  const generations = openGenerationStore(storage);
  const { calls, pipeline, models, router, markupMillionths, store, responses } = parts;
  const keeper = new ResponseKeeper({ responses, clock });
  const publicUrl = config.server.public_url ?? address;
  return [
    openapiRoute(openapiDocument({ publicUrl, betaUrl: config.server.beta_url ?? address })),
    healthRoute({ status: "ok", version, sandbox: [...sandbox.keys()] }),
    modelsRoute({ models, router, quote: priceQuote(markupMillionths) }),
    userInfoRoute({ accounts: store, clock }),
    usageRoute({ generations, clock }),
    generationRoute(generations),
    chatCompletionsRoute(pipeline),
    messagesRoute(pipeline),
    countTokensRoute(calls),
    responsesRoute(pipeline, keeper),
    embeddingsRoute(pipeline),
    imageGenerationsRoute(pipeline),
    imageEditsRoute(pipeline),
    speechRoute(pipeline),
    transcriptionsRoute(pipeline),
    translationsRoute(pipeline),
    ...responseRoutes({ calls, keeper }),
  ];
}
