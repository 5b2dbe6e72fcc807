import { createApp } from "../../app.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { environment } from "../state.ts";
import { version } from "../version.ts";
import type { Listening } from "./listen.ts";

/** How long connections may stay open after the last call has ended. */
const CLOSE_MS_MAX = 2_000;

export interface ServingOptions {
  loaded: Pick<LoadedConfig, "config" | "missingKeys">;
  storage: Storage;
  logger: Logger;
  /** Prefixes that simulators answer for, with their addresses. */
  simulated: ReadonlyMap<string, string>;
}

/**
 * Answers the requests on a port. Returns the way to stop: open calls end, everything is in the books. It gives the exit
 * code, which is 1 where the storage did not take the end of a call: the log says which.
 */
export function serveOn(server: Listening, options: ServingOptions): () => Promise<number> {
  const { loaded, storage, logger, simulated } = options;
  const app = createApp({
    config: loaded.config,
    missingKeys: loaded.missingKeys,
    sandbox: simulated,
    storage,
    environment,
    logger,
    version,
    address: server.url,
    upgrade: server.upgrade,
  });
  server.answerWith(app.fetch);
  return async () => {
    const closed = server.close();
    const lost = await app.drain();
    // The last answers have still to reach their clients; who merely stays connected, or never ends a request, is left.
    await Promise.race([closed, Bun.sleep(CLOSE_MS_MAX)]);
    await storage.close();
    return lost === 0 ? 0 : 1;
  };
}

/**
 * Gives back the way to end this process: runs `stop`, once, and exits with the code that it gives. SIGINT and SIGTERM
 * do so too; a second one of the same kind ends the process at once.
 */
export function endOnSignal(stop: () => Promise<number>): () => void {
  let isEnding = false;
  const end = (): void => {
    // Where npx runs, one Ctrl-C comes as both signals.
    if (isEnding) return;
    isEnding = true;
    void stop().then((code) => process.exit(code));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  return end;
}
