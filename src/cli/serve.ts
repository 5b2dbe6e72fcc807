import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { checkRouting, openOperatorCatalog } from "../app/routing.ts";
import { openStorage } from "../app/storage.ts";
import type { Config, LoadedConfig } from "../config/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { printBanner, type ServerSettings } from "./banner.ts";
import { firstTokens } from "./first-tokens.ts";
import { type CommonOptions, countOption, portOption, UsageError, withCommonOptions } from "./options.ts";
import { type ReloadingOptions, startReloading } from "./reload/start-reloading.ts";
import { type Sandbox, startSandbox, withSandbox } from "./sandbox.ts";
import { endOnSignal } from "./server/end-on-signal.ts";
import { listen, type Listening, listenShared, reservePort } from "./server/listen.ts";
import { publishMetrics } from "./server/serve-metrics.ts";
import type { ServingOptions } from "./server/serving.ts";
import { environment, readConfig, storageSettings } from "./state.ts";
import { type KeyPairInUse, loadKeyPair } from "./tls/key-pair.ts";
import { selfSignedPair } from "./tls/self-signed.ts";
import { KeyPairWatch } from "./tls/key-pair-watch.ts";
import { version } from "./version.ts";
import type { WorkerSettings } from "./server/worker-settings.ts";
import { Workers } from "./workers.ts";

/** More workers would only wait for each other: each uses a core and five connections to the storage. */
const WORKERS_MAX = 256;

interface ServeOptions extends CommonOptions {
  host?: string;
  port?: number;
  sandbox?: boolean;
  tls?: boolean;
  watch?: boolean;
  workers?: number;
}

export function addServeCommand(program: Command): void {
  withCommonOptions(program.command("serve").description("run the gateway"))
    .option("--host <host>", "address to listen on", undefined)
    .option("--port <number>", "port to listen on", portOption("--port"))
    .option("--sandbox", "answer for every provider without a key by its simulator")
    .option("--tls", "in a sandbox: HTTPS, with a certificate made for this machine")
    .option("--watch", "reload the configuration when its file has changed")
    .option("--workers <count>", "processes on one port, on Postgres (Linux)", countOption("--workers"))
    .action(serve);
}

/** The settings from the command line and from the configuration. */
interface Start extends ServerSettings {
  host: string;
  port: number;
  sandbox: boolean;
  watch: boolean;
  tls: KeyPairInUse | undefined;
  read: ReloadingOptions["read"];
}

async function serve(options: ServeOptions): Promise<void> {
  const loaded = readConfig(options);
  const { server, storage } = loaded.config;
  const { workers = 1, tls: makesPair = false, host = server.host } = options;
  const storageUrl = options.storage ?? storage;
  if (workers > 1) refuseWorkers(workers, storageUrl);
  if (makesPair) refuseTls(options, loaded.config);
  const files = makesPair ? await selfSignedPair(folderOf(storageUrl, loaded.config), host) : server.tls;
  const start: Start = {
    loaded,
    host,
    port: options.port ?? server.port,
    storageUrl,
    storageOption: options.storage,
    sandbox: options.sandbox === true,
    watch: options.watch === true,
    read: (from) => readConfig(options, from),
    json: options.json,
    tls: files && { files, pair: await loadKeyPair(files) },
    authority: makesPair ? files?.cert : undefined,
  };
  return workers > 1 ? serveByWorkers(start, workers) : serveAlone(start);
}

/** Nobody trusts a certificate that is made here but those who are given its file. */
function refuseTls({ sandbox }: ServeOptions, { server }: Config): void {
  if (sandbox !== true)
    throw new UsageError("--tls: only with --sandbox; a gateway gets its certificate by server.tls");
  if (server.tls !== undefined) throw new UsageError("--tls: the configuration has a certificate already (server.tls)");
}

/** The folder of the state: that of SQLite's file, or of the journal. */
function folderOf(storageUrl: string, { storage_journal: journal }: Config): string {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(storageUrl)?.[1];
  return resolve(dirname(file ?? journal));
}

function refuseWorkers(count: number, storageUrl: string): void {
  if (storageUrl.startsWith("sqlite:")) {
    throw new UsageError(
      "--workers: SQLite serves one process; several share a Postgres (storage: postgres://user:pass@host/db)",
    );
  }
  if (process.platform !== "linux") throw new UsageError("--workers: several processes on one port need Linux");
  if (count > WORKERS_MAX) throw new UsageError(`--workers: at most ${WORKERS_MAX}`);
}

async function serveAlone(start: Start): Promise<void> {
  const { loaded } = start;
  const logger = createLogger(loaded.config.log);
  const storage = await openStorage(start.storageUrl, { log: logger, ...storageSettings(loaded.config) });
  const catalog = await openOperatorCatalog(loaded.config, { storage, environment, logger });
  // The port is bound first, since the app needs its address, which the system chooses for port 0.
  const server = await listenAlone(start, logger);
  const sandbox = start.sandbox ? await startSandbox(start.port) : undefined;
  // Loaded last, since it is most of the code: a start that cannot be fails at once, and a parent of workers needs none.
  const { serveOn } = await import("./server/serving.ts");
  const { stop, metrics, catalogHash, reconfigure } = serveOn(server, {
    ...servedBy(loaded, sandbox),
    storage,
    logger,
    catalog,
  });
  const stopMetrics = publishMetrics(loaded.config, logger, async () => [await metrics()]);
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  // Before the banner: a program that waits for the banner may send a signal as soon as it has read it.
  const end = endOnSignal(async () => {
    const [code] = await Promise.all([stop(), leave()]);
    await stopMetrics();
    sandbox?.stop();
    logger.flush();
    return code;
  });
  const leave = startReloading({
    ...start,
    storage,
    logger,
    catalogHash,
    end: () => end(),
    apply: (next, { secretsOnly = false }) =>
      reconfigure({ ...servedBy(next, sandbox), refreshesCatalog: !secretsOnly }),
  });
  printBanner(start, { url: server.url, sandbox: sandbox?.routesOf(loaded), site: sandbox?.site, tokens });
  logger.info({ url: server.url, version }, "listening");
}

/** A configuration as it is served: in a sandbox, simulators answer for the providers without a key. */
function servedBy(loaded: LoadedConfig, sandbox: Sandbox | undefined): Pick<ServingOptions, "loaded" | "simulated"> {
  if (sandbox === undefined) return { loaded, simulated: new Map() };
  return { loaded: withSandbox(loaded, sandbox), simulated: sandbox.routesOf(loaded) };
}

/** The same as JSON, for workers. */
function configurationOf({ loaded: { config, missingKeys }, simulated }: ReturnType<typeof servedBy>) {
  return { config, missingKeys: [...missingKeys], simulated: [...simulated] };
}

/** A certificate is replaced by another listener on the port, which is shared for that. */
async function listenAlone(start: Start, logger: Logger): Promise<Listening> {
  const { host, tls } = start;
  if (tls === undefined) return listen(start);
  const reserved = await reservePort({ ...start, pair: tls.pair });
  const server = listenShared({ host, port: reserved.port, tls }, logger);
  await reserved.release();
  return server;
}

/** Does once for all workers: migrates the storage, starts the simulators, creates the first tokens, prints the banner. */
async function serveByWorkers(start: Start, count: number): Promise<void> {
  const { loaded, storageUrl, host, tls } = start;
  const storage = await openStorage(storageUrl, storageSettings(loaded.config));
  const logger = createLogger(loaded.config.log);
  const reserved = await reservePort({ ...start, pair: tls?.pair });
  const sandbox = start.sandbox ? await startSandbox(start.port) : undefined;
  const settings: WorkerSettings = {
    ...configurationOf(servedBy(loaded, sandbox)),
    storageUrl,
    host,
    port: reserved.port,
    processes: count,
    tls,
  };
  // Each worker watches the files itself; one that is started later begins with the last pair that fits.
  if (tls !== undefined)
    new KeyPairWatch({ ...tls, logger, onChange: (pair) => (settings.tls = { ...tls, pair }) }).start();
  const workers = await Workers.start({ count, logger, settings });
  const stopMetrics = publishMetrics(loaded.config, logger, () => workers.metrics.collect());
  const end = endOnSignal(async () => {
    const [code] = await Promise.all([workers.stop(), leave()]);
    await stopMetrics();
    sandbox?.stop();
    await storage.close();
    logger.flush();
    return code;
  });
  const leave = startReloading({
    ...start,
    storage,
    logger,
    catalogHash: () => workers.catalogs.hash,
    end: () => end(),
    async apply(next, { secretsOnly = false }) {
      await checkRouting(next, { storage, environment, logger });
      await workers.reconfigure({ ...configurationOf(servedBy(next, sandbox)), refreshesCatalog: !secretsOnly });
      logger.setLevel(next.config.log.level);
    },
  });
  await reserved.release();
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  printBanner(start, {
    url: reserved.url,
    sandbox: sandbox?.routesOf(loaded),
    site: sandbox?.site,
    tokens,
    workers: count,
  });
  logger.info({ url: reserved.url, version, workers: count }, "listening");
}
