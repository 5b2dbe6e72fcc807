import { userInfo } from "node:os";
import type { AccountsDependencies } from "../accounts/index.ts";
import { createAccounts } from "../app/accounts.ts";
import { type Config, ConfigError, type ConfigSource, type LoadedConfig, loadConfig } from "../config/index.ts";
import type { Environment, Fetch, RandomBytes } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";
import { openStorage, type StorageOptions } from "../app/storage.ts";
import { askByFetch, socketOpener, UpstreamClient } from "../upstream/index.ts";
import type { CommonOptions } from "./options.ts";

/** Draws random bytes in bulk: a request id needs a few, and a system call for thousands costs no more. */
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
    // The returned bytes are a copy, and are erased from the pool, so that no later caller can get them.
    const bytes = pool.slice(used - size, used);
    pool.fill(0, used - size, used);
    return bytes;
  };
}

const realFetch: Fetch = (url, init) => fetch(url, init);
const realAskByFetch = askByFetch(realFetch);

/** The real clock, randomness and network. */
export const environment: Environment = {
  clock: Date.now,
  randomBytes: pooledRandomBytes(),
  randomFraction: Math.random,
  fetch: realFetch,
  ask: new UpstreamClient({ fallback: realAskByFetch, clock: Date.now, variables: process.env }).ask,
  openSocket: socketOpener(process.env),
};

/** The same, with the client for upstreams that the configuration selects. */
export function environmentFor({ upstream }: Config): Environment {
  return upstream.client === "fetch" ? { ...environment, ask: realAskByFetch } : environment;
}

export interface State extends AccountsDependencies {
  loaded: LoadedConfig;
  storage: Storage;
}

/** Reads the configuration that the command line specifies; `text`: as the content of its file. Throws a `ConfigError`. */
export function readConfig(options: CommonOptions, { text }: Pick<ConfigSource, "text"> = {}): LoadedConfig {
  return loadConfig({ file: options.config, variables: process.env, text });
}

/** The storage that the command line or the configuration names. */
export function storageUrlOf(options: CommonOptions): string {
  return options.storage ?? readConfig(options).config.storage;
}

/** How a configuration lets its storage be opened. */
export function storageSettings({ server, storage_migrate: migrate }: Config): StorageOptions {
  return { timezone: server.timezone, migrates: migrate === "start" };
}

/**
 * Opens the storage for a command that needs nothing else of the configuration: a mistake in it matters only to find the storage, and
 * then the schema is not migrated.
 */
export function openNamedStorage(options: CommonOptions): Promise<Storage> {
  return openStorage(storageUrlOf(options), { migrates: migrates(options) });
}

export function migrates(options: CommonOptions): boolean {
  try {
    return readConfig(options).config.storage_migrate === "start";
  } catch (thrown) {
    if (thrown instanceof ConfigError) return false;
    throw thrown;
  }
}

/** Who runs the command, by the name that the operating system knows. A container may have none for its user. */
export function commandActor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

/** Runs one command on the configured storage, which a running server may use at the same time. */
export async function withState<T>(options: CommonOptions, work: (state: State) => Promise<T>): Promise<T> {
  const loaded = readConfig(options);
  const storage = await openStorage(options.storage ?? loaded.config.storage, storageSettings(loaded.config));
  try {
    return await work({ loaded, storage, ...createAccounts(storage, environment, commandActor()) });
  } finally {
    await storage.close();
  }
}
