import { createApp } from "../../app/app.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { MetricFamily } from "../../metrics/index.ts";
import type { OperatorCatalog } from "../../pricing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { environmentFor } from "../state.ts";
import { version } from "../version.ts";
import type { Listening } from "./listen.ts";
import { defaultMemoryLimit } from "./memory.ts";

/** How long connections may stay open after the last call has ended. */
const CLOSE_MS_MAX = 2_000;

export interface ServingOptions {
  loaded: Pick<LoadedConfig, "config" | "missingKeys">;
  storage: Storage;
  logger: Logger;
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
}

/** Answers the requests on a port. */
export function serveOn(server: Listening, options: ServingOptions): Serving {
  const { loaded, storage, logger, simulated, catalog, processes = 1 } = options;
  const app = createApp({
    config: loaded.config,
    missingKeys: loaded.missingKeys,
    sandbox: simulated,
    catalogs: catalog?.layers,
    storage,
    environment: environmentFor(loaded.config),
    logger,
    version,
    address: server.url,
    upgrade: server.upgrade,
    memoryBytesMax: loaded.config.server.memory_limit ?? defaultMemoryLimit(processes),
  });
  server.answerWith(app.fetch);
  const stop = async (): Promise<number> => {
    const closed = server.close();
    catalog?.close();
    const lost = await app.drain();
    // The last answers must still reach their clients; idle connections and unfinished requests are dropped.
    await Promise.race([closed, Bun.sleep(CLOSE_MS_MAX)]);
    await storage.close();
    return lost === 0 ? 0 : 1;
  };
  return { stop, metrics: () => app.metrics() };
}
