import type { AccountsDependencies } from "../accounts/index.ts";
import { createAccounts } from "../app.ts";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import type { Environment, Fetch, RandomBytes } from "../core/index.ts";
import { openStorage, type Storage } from "../storage/index.ts";
import { askByFetch, UpstreamClient } from "../upstream/index.ts";
import type { CommonOptions } from "./options.ts";

/** Random bytes are drawn in bulk: a request id needs a few, and a call to the system costs the same for thousands. */
function pooledRandomBytes(): RandomBytes {
  const pool = new Uint8Array(8_192);
  let used = pool.length;
  return (size) => {
    if (size > pool.length) return crypto.getRandomValues(new Uint8Array(size));
    if (used + size > pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    used += size;
    // A copy, and no byte is left behind for anybody else to be given.
    const bytes = pool.slice(used - size, used);
    pool.fill(0, used - size, used);
    return bytes;
  };
}

const realFetch: Fetch = (url, init) => fetch(url, init);

/** The real world. */
export const environment: Environment = {
  clock: Date.now,
  randomBytes: pooledRandomBytes(),
  randomFraction: Math.random,
  fetch: realFetch,
  ask: new UpstreamClient({ fallback: askByFetch(realFetch), clock: Date.now, variables: process.env }).ask,
};

export interface State extends AccountsDependencies {
  loaded: LoadedConfig;
  storage: Storage;
}

/** Reads the configuration named on the command line. */
export function readConfig(options: CommonOptions): LoadedConfig {
  return loadConfig({ file: options.config, variables: process.env });
}

/** Opens the configured storage for one command, beside a running server or without one. */
export async function withState<T>(options: CommonOptions, work: (state: State) => Promise<T>): Promise<T> {
  const loaded = readConfig(options);
  const storage = await openStorage(options.storage ?? loaded.config.storage);
  try {
    return await work({ loaded, storage, ...createAccounts(storage, environment) });
  } finally {
    await storage.close();
  }
}
