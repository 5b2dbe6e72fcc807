import { createApp } from "../../app/app.ts";
import { nextCatalog } from "../../app/routing/routing.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { MetricFamily } from "../../metrics/index.ts";
import type { OperatorCatalog } from "../../pricing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { ServerLogger } from "../../telemetry/index.ts";
import { environmentFor } from "../state.ts";
import { version } from "../../core/index.ts";
import type { Listening } from "./listen.ts";
import { defaultMemoryLimit } from "./memory.ts";
import type { HostAddress } from "../../tools/index.ts";

/** How long a process that hands over still takes calls: each answer ends its connection, and the next process gets the new ones. */
const HAND_OVER_MS = 1_000;

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
  /** The process that owns the servers of tools that are programs. */
  toolHost: HostAddress;
  /** The number of processes that share the machine; 1 by default. */
  processes?: number;
}

export interface Serving {
  /**
   * Stops the server: open calls end, and all charges are written. Resolves with the exit code, which is 1 if the storage did
   * not accept the end of a call; the log contains those calls. With `handsOver`, another process listens on the port already: calls
   * on open connections are still taken, and none is refused.
   */
  stop: (how?: { handsOver?: boolean }) => Promise<number>;
  /** Whether it takes paid calls. */
  isReady: () => Promise<boolean>;
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
  const { loaded, storage, logger, simulated, toolHost, processes = 1 } = options;
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
    toolHost,
    memoryBytesMax: config.server.memory_limit ?? defaultMemoryLimit(processes),
  });
  server.answerWith(app.fetch);
  const stop = async ({ handsOver = false } = {}): Promise<number> => {
    if (handsOver) server.endConnections();
    else app.leave();
    const delay = handsOver ? HAND_OVER_MS : config.server.drain_delay;
    if (delay !== undefined) await Bun.sleep(delay);
    const closed = server.close();
    if (handsOver) await Promise.race([closed, Bun.sleep(config.server.drain)]);
    catalog?.close();
    const lost = await app.drain({ atOnce: handsOver });
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
  const isReady = async (): Promise<boolean> => {
    const { status } = await app.fetch(new Request(`${server.url}/health/ready`));
    return status === 200;
  };
  return { stop, isReady, metrics: () => app.metrics(), catalogHash: () => catalog?.hash, reconfigure };
}
