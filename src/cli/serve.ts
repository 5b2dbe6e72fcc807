import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { checkRouting, openOperatorCatalog } from "../app/routing/routing.ts";
import { openStorage, planStorage } from "../app/storage.ts";
import { refuseWithoutKey } from "../app/tools/connections.ts";
import { serverPlansOf } from "../app/tools/programs.ts";
import type { Config, LoadedConfig } from "../config/index.ts";
import type { SchemaPlan, Storage } from "../storage/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { printBanner, type ServerSettings } from "./banner.ts";
import { firstTokens } from "./first-tokens.ts";
import { type CommonOptions, countOption, portOption, UsageError, withCommonOptions } from "./options.ts";
import { type ReloadingOptions, startReloading } from "./reload/start-reloading.ts";
import { type Sandbox, startSandbox, withSandbox } from "./sandbox.ts";
import { signInLink } from "./sign-in-link.ts";
import { endOnSignal } from "./server/end-on-signal.ts";
import { findPredecessor, openWhenReady, takeOver } from "./server/hand-over.ts";
import { listen, type Listening, reservePort } from "./server/listen.ts";
import { logRejections } from "./server/log-rejections.ts";
import { publishMetrics } from "./server/serve-metrics.ts";
import type { ServingOptions } from "./server/serving.ts";
import { lockServing } from "./server/serving-lock.ts";
import { environment, readConfig, storageSettings } from "./state.ts";
import { type KeyPairInUse, loadKeyPair } from "./tls/key-pair.ts";
import { selfSignedPair } from "./tls/self-signed.ts";
import { ToolHost } from "../tools/index.ts";
import { KeyPairWatch } from "./tls/key-pair-watch.ts";
import { version } from "../core/index.ts";
import type { WorkerSettings } from "./server/worker-settings.ts";
import { Workers } from "./workers.ts";

/** More workers would only wait for each other: each uses a core and five connections to the storage. */
const WORKERS_MAX = 256;

interface ServeOptions extends CommonOptions {
  handover?: boolean;
  host?: string;
  port?: number;
  sandbox?: boolean;
  tls?: boolean;
  watch?: boolean;
  workers?: number;
}

export function addServeCommand(program: Command): void {
  withCommonOptions(program.command("serve").description("run the gateway"))
    .option("--handover", "take the port of the gateway that runs there over: no call is refused or lost (Linux)")
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
  handover: boolean;
  tls: KeyPairInUse | undefined;
  read: ReloadingOptions["read"];
}

async function serve(options: ServeOptions): Promise<void> {
  const loaded = readConfig(options);
  const { server, storage } = loaded.config;
  const { workers = 1, tls: makesPair = false, host = server.host } = options;
  const storageUrl = options.storage ?? storage;
  if (workers > 1) refuseWorkers(workers, storageUrl);
  refuseWithoutKey(loaded.config, storageUrl.startsWith("sqlite:") ? "sqlite" : "postgres");
  if (options.handover === true && options.sandbox === true) throw new UsageError("--handover: not with --sandbox");
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
    handover: options.handover === true,
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
  return resolve(dirname(sqliteFile(storageUrl) ?? journal));
}

function sqliteFile(storageUrl: string): string | undefined {
  return /^sqlite:(?!:memory:)([^?]+)/.exec(storageUrl)?.[1];
}

/** Whether a version that has made the schema as it is can go on. */
const goesOn = ({ now, after }: SchemaPlan): boolean => now.version === 0 || after.oldest <= now.version;

/** Refuses a second process on SQLite's file, and one that replaces another which its schema is not for. */
async function lockFile({ storageUrl, handover }: Start): Promise<() => void> {
  const file = sqliteFile(storageUrl);
  if (file === undefined) return () => undefined;
  const { isHeldByOther, release } = lockServing(resolve(file), { replaces: handover });
  if (isHeldByOther && !(await planStorage(storageUrl)).every(goesOn))
    throw new UsageError("--handover: the running gateway can't work on the schema of this version: stop it first");
  return release;
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
  const unlock = await lockFile(start);
  const storage = await openStorage(start.storageUrl, { log: logger, ...storageSettings(loaded.config) });
  const catalog = await openOperatorCatalog(loaded.config, { storage, environment, logger });
  const before = start.handover ? await findPredecessor(storage, start) : undefined;
  const replaces = before !== undefined;
  // The port is bound first, since the app needs its address, which the system chooses for port 0; one that is taken over, last.
  const server = await listen(start, { logger, replaces });
  const sandbox = start.sandbox ? await startSandbox(start.port) : undefined;
  const programs = openPrograms(loaded, logger);
  // Loaded last, since it is most of the code: a start that cannot be fails at once, and a parent of workers needs none.
  const { serveOn } = await import("./server/serving.ts");
  const { stop, isReady, metrics, catalogHash, reconfigure } = serveOn(server, {
    ...servedBy(loaded, sandbox),
    storage,
    logger,
    catalog,
    toolHost: programs.address,
  });
  logRejections(logger);
  const stopMetrics = await publishMetrics(loaded.config, { logger, replaces }, async () => [await metrics()]);
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  const link = sandbox === undefined ? undefined : await signInLink(storage, environment, server.url);
  // Before the banner: a program that waits for the banner may send a signal as soon as it has read it.
  const end = endOnSignal(async (how) => {
    const [code] = await Promise.all([stop(how), leave()]);
    await programs.stop();
    await stopMetrics();
    sandbox?.stop();
    unlock();
    logger.flush();
    return code;
  });
  const leave = startReloading({
    ...start,
    storage,
    logger,
    catalogHash,
    end: () => end(),
    port: portOf(server),
    async apply(next, { secretsOnly = false }) {
      const plans = serverPlansOf(next.config);
      await reconfigure({ ...servedBy(next, sandbox), refreshesCatalog: !secretsOnly });
      programs.configure(plans);
    },
  });
  if (before !== undefined) {
    await openWhenReady(server, { isReady });
    takeOver(before, logger);
  }
  printBanner(start, { url: server.url, sandbox: sandbox?.routesOf(loaded), site: sandbox?.site, tokens, link });
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

/** The port that a next process can take over. */
function portOf({ url }: Pick<Listening, "url">): number | undefined {
  if (process.platform !== "linux") return undefined;
  const { port, protocol } = new URL(url);
  return port === "" ? { "http:": 80, "https:": 443 }[protocol] : Number(port);
}

/** Does once for all workers: migrates the storage, starts the simulators, creates the first tokens, prints the banner. */
async function serveByWorkers(start: Start, count: number): Promise<void> {
  const { loaded, storageUrl, host, tls } = start;
  const storage = await openStorage(storageUrl, storageSettings(loaded.config));
  const logger = createLogger(loaded.config.log);
  const before = start.handover ? await findPredecessor(storage, start) : undefined;
  const replaces = before !== undefined;
  const reserved = await reservePort({ host, port: start.port, pair: tls?.pair, shared: replaces });
  const sandbox = start.sandbox ? await startSandbox(start.port) : undefined;
  const programs = openPrograms(loaded, logger);
  const settings: WorkerSettings = {
    ...configurationOf(servedBy(loaded, sandbox)),
    storageUrl,
    host,
    port: reserved.port,
    toolHost: programs.address,
    processes: count,
    tls,
    later: replaces,
  };
  // Each worker watches the files itself; one that is started later begins with the last pair that fits.
  if (tls !== undefined)
    new KeyPairWatch({ ...tls, logger, onChange: (pair) => (settings.tls = { ...tls, pair }) }).start();
  const workers = await Workers.start({ count, logger, settings });
  logRejections(logger);
  // From now on the port is theirs.
  settings.later = false;
  const stopMetrics = await publishMetrics(loaded.config, { logger, replaces }, () => workers.metrics.collect());
  const end = endOnSignal(async (how) => {
    const [code] = await Promise.all([workers.stop(how), leave()]);
    await programs.stop();
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
    port: portOf(reserved),
    async apply(next, { secretsOnly = false }) {
      const plans = serverPlansOf(next.config);
      await checkRouting(next, { storage, environment, logger });
      await workers.reconfigure({ ...configurationOf(servedBy(next, sandbox)), refreshesCatalog: !secretsOnly });
      programs.configure(plans);
      logger.setLevel(next.config.log.level);
    },
  });
  await reserved.release();
  if (before !== undefined) takeOver(before, logger);
  await printWorkersBanner(start, { storage, sandbox, url: reserved.url, workers: count });
  logger.info({ url: reserved.url, version, workers: count }, "listening");
}

async function printWorkersBanner(
  start: Start,
  { storage, sandbox, url, workers }: { storage: Storage; sandbox: Sandbox | undefined; url: string; workers: number },
): Promise<void> {
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  const link = sandbox === undefined ? undefined : await signInLink(storage, environment, url);
  printBanner(start, { url, sandbox: sandbox?.routesOf(start.loaded), site: sandbox?.site, tokens, link, workers });
}

/** The servers of tools that are programs. */
function openPrograms({ config }: LoadedConfig, logger: Logger): ToolHost {
  const programs = new ToolHost(logger);
  programs.configure(serverPlansOf(config));
  return programs;
}
