import { createApp } from "../../app/app.ts";
import { nextCatalog } from "../../app/routing.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { MetricFamily } from "../../metrics/index.ts";
import type { OperatorCatalog } from "../../pricing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { ServerLogger } from "../../telemetry/index.ts";
import { environmentFor } from "../state.ts";
import { version } from "../version.ts";
import type { Listening } from "./listen.ts";
import { defaultMemoryLimit } from "./memory.ts";

/** How long connections may stay open after the last call has ended. */
const CLOSE_MS_MAX = 2_000;

export interface ServingOptions {
  loaded: Pick<LoadedConfig, "config" | "missingKeys">;
  storage: Storage;
  logger: ServerLogger;
  /** Prefixes answered by simulators, with their addresses. */
  simulated: ReadonlyMap<string, string>;
  /** The operator's price catalog, if there is one. */
  catalog?: OperatorCatalog | undefined;
  /** The number of processes that share the machine; 1 by default. */
  processes?: number;
}

export interface Serving {
  /**
   * Stops the server: open calls end, and all charges are written. Resolves with the exit code, which is 1 if the storage did
   * not accept the end of a call; the log contains those calls.
   */
  stop: () => Promise<number>;
  /** The metrics of this process. */
  metrics: () => Promise<readonly MetricFamily[]>;
  /** A hash of the operator's price catalog in force. */
  catalogHash: () => string | undefined;
  /** Puts another configuration into force. Rejects with a `ConfigError` if that changes nothing. */
  reconfigure: (next: Reconfiguration) => Promise<void>;
}

/** A checked configuration. It may differ in settings that need no restart. */
interface Reconfiguration extends Pick<ServingOptions, "loaded" | "simulated"> {
  /** Whether the price catalog is read again even if it is the same one. */
  refreshesCatalog: boolean;
}

/** Answers the requests on a port. */
export function serveOn(server: Listening, options: ServingOptions): Serving {
  const { loaded, storage, logger, simulated, processes = 1 } = options;
  let { config } = loaded;
  let { catalog } = options;
  const servingEnvironment = environmentFor(config);
  const app = createApp({
    config,
    missingKeys: loaded.missingKeys,
    sandbox: simulated,
    catalogs: catalog?.layers,
    storage,
    environment: servingEnvironment,
    logger,
    version,
    address: server.url,
    upgrade: server.upgrade,
    addressOf: server.addressOf,
    memoryBytesMax: config.server.memory_limit ?? defaultMemoryLimit(processes),
  });
  server.answerWith(app.fetch);
  const stop = async (): Promise<number> => {
    app.leave();
    if (config.server.drain_delay !== undefined) await Bun.sleep(config.server.drain_delay);
    const closed = server.close();
    catalog?.close();
    const lost = await app.drain();
    // The last answers must still reach their clients; idle connections and unfinished requests are dropped.
    await Promise.race([closed, Bun.sleep(CLOSE_MS_MAX)]);
    await storage.close();
    return lost === 0 ? 0 : 1;
  };
  const reconfigure = async ({
    loaded: next,
    simulated: sandbox,
    refreshesCatalog,
  }: Reconfiguration): Promise<void> => {
    const parts = { storage, logger, environment: servingEnvironment };
    const opened = await nextCatalog({ config, catalog }, next.config, parts);
    if (opened === catalog && refreshesCatalog) await catalog?.refresh();
    try {
      app.reconfigure({ ...next, sandbox, catalogs: opened?.layers });
    } catch (thrown) {
      if (opened !== catalog) opened?.close();
      throw thrown;
    }
    if (opened !== catalog) catalog?.close();
    ({ config, catalog } = { config: next.config, catalog: opened });
    logger.setLevel(config.log.level);
  };
  return { stop, metrics: () => app.metrics(), catalogHash: () => catalog?.hash, reconfigure };
}
