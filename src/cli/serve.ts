import type { Command } from "commander";
import { createApp } from "../app.ts";
import { openStorage, withoutPassword } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { printBanner } from "./banner.ts";
import { firstTokens } from "./first-tokens.ts";
import { listen } from "./listen.ts";
import { type CommonOptions, countOption, portOption, UsageError, withCommonOptions } from "./options.ts";
import { startSandbox } from "./sandbox.ts";
import { environment, readConfig } from "./state.ts";
import { version } from "./version.ts";

/** How long connections may stay open after the last call has ended. */
const CLOSE_MS_MAX = 2_000;

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
    .option("--workers <count>", "processes on one port", countOption("--workers"))
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  if ((options.workers ?? 1) > 1)
    throw new UsageError("--workers: more than one process needs a storage that they can share; SQLite runs one");
  const loaded = readConfig(options);
  const { config } = loaded;
  const storage = await openStorage(options.storage ?? config.storage);
  const logger = createLogger({ level: config.log.level });
  const host = options.host ?? config.server.host;
  // The port is bound first, so that what the app says of its own address is true even for port 0.
  const server = listen(host, options.port ?? config.server.port);
  const sandbox = options.sandbox === true ? await startSandbox(loaded) : undefined;
  const app = createApp({
    config,
    missingKeys: loaded.missingKeys,
    sandbox: sandbox?.routes ?? new Map(),
    storage,
    environment,
    logger,
    version,
    address: server.url,
  });
  const tokens = sandbox === undefined ? undefined : await firstTokens(storage, environment);
  server.answerWith(app.fetch);
  printBanner({
    url: server.url,
    loaded,
    sandbox: sandbox?.routes,
    tokens,
    storage: withoutPassword(options.storage ?? config.storage),
    json: options.json,
  });
  logger.info({ url: server.url, version }, "listening");

  const stop = async (): Promise<void> => {
    const closed = server.close();
    await app.drain();
    // The last answers have still to reach their clients; who merely stays connected, or never ends a request, is left.
    await Promise.race([closed, Bun.sleep(CLOSE_MS_MAX)]);
    await storage.close();
    sandbox?.stop();
    logger.flush();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
}
