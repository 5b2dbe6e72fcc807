import type { Command } from "commander";
import { openOperatorCatalog } from "../app/routing.ts";
import { openStorage } from "../app/storage.ts";
import { createLogger } from "../telemetry/index.ts";
import { printBanner, type ServerSettings } from "./banner.ts";
import { firstTokens } from "./first-tokens.ts";
import { type CommonOptions, countOption, portOption, UsageError, withCommonOptions } from "./options.ts";
import { startSandbox, withSandbox } from "./sandbox.ts";
import { endOnSignal } from "./server/end-on-signal.ts";
import { listen, reservePort } from "./server/listen.ts";
import { environment, readConfig } from "./state.ts";
import { version } from "./version.ts";
import { Workers } from "./workers.ts";

/** More workers would only wait for each other: each uses a core and five connections to the storage. */
const WORKERS_MAX = 256;

interface ServeOptions extends CommonOptions {
  host?: string;
  port?: number;
  sandbox?: boolean;
  workers?: number;
}

export function addServeCommand(program: Command): void {
  withCommonOptions(program.command("serve").description("run the gateway"))
    .option("--host <host>", "address to listen on", undefined)
    .option("--port <number>", "port to listen on", portOption("--port"))
    .option("--sandbox", "answer for every provider without a key by its simulator")
    .option("--workers <count>", "processes on one port, on Postgres (Linux)", countOption("--workers"))
    .action(serve);
}

/** The settings from the command line and from the configuration. */
interface Start extends ServerSettings {
  host: string;
  port: number;
  sandbox: boolean;
}

async function serve(options: ServeOptions): Promise<void> {
  const loaded = readConfig(options);
  const { server, storage } = loaded.config;
  const start: Start = {
    loaded,
    host: options.host ?? server.host,
    port: options.port ?? server.port,
    storageUrl: options.storage ?? storage,
    storageOption: options.storage,
    sandbox: options.sandbox === true,
    json: options.json,
  };
  const { workers = 1 } = options;
  if (workers === 1) return serveAlone(start);
  refuseWorkers(workers, start.storageUrl);
  return serveByWorkers(start, workers);
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
  const logger = createLogger({ level: loaded.config.log.level });
  const storage = await openStorage(start.storageUrl, { log: logger, timezone: loaded.config.server.timezone });
  const catalog = await openOperatorCatalog(loaded.config, { storage, environment, logger });
  // The port is bound first, since the app needs its address, which the system chooses for port 0.
  const server = listen(start);
  const sandbox = start.sandbox ? await startSandbox(loaded, start.port) : undefined;
  const served = sandbox === undefined ? loaded : withSandbox(loaded, sandbox);
  // Loaded last, since it is most of the code: a start that cannot be fails at once, and a parent of workers needs none.
  const { serveOn } = await import("./server/serving.ts");
  const stop = serveOn(server, { loaded: served, storage, logger, catalog, simulated: sandbox?.routes ?? new Map() });
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  printBanner(start, { url: server.url, sandbox: sandbox?.routes, site: sandbox?.site, tokens });
  logger.info({ url: server.url, version }, "listening");
  endOnSignal(async () => {
    const code = await stop();
    sandbox?.stop();
    logger.flush();
    return code;
  });
}

/** Does once for all workers: migrates the storage, starts the simulators, creates the first tokens, prints the banner. */
async function serveByWorkers(start: Start, count: number): Promise<void> {
  const { loaded, storageUrl, host } = start;
  const storage = await openStorage(storageUrl, { timezone: loaded.config.server.timezone });
  const logger = createLogger({ level: loaded.config.log.level });
  const reserved = await reservePort(start);
  const sandbox = start.sandbox ? await startSandbox(loaded, start.port) : undefined;
  const served = sandbox === undefined ? loaded : withSandbox(loaded, sandbox);
  const workers = await Workers.start({
    count,
    logger,
    settings: {
      config: served.config,
      missingKeys: [...served.missingKeys],
      simulated: [...(sandbox?.routes ?? [])],
      storageUrl,
      host,
      port: reserved.port,
      processes: count,
    },
  });
  endOnSignal(async () => {
    const code = await workers.stop();
    sandbox?.stop();
    logger.flush();
    return code;
  });
  await reserved.release();
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  await storage.close();
  printBanner(start, { url: reserved.url, sandbox: sandbox?.routes, site: sandbox?.site, tokens, workers: count });
  logger.info({ url: reserved.url, version, workers: count }, "listening");
}
