import { randomBytes } from "node:crypto";
import type { AccountsDependencies } from "../accounts/index.ts";
import { openTokenStore } from "../auth/index.ts";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { Ledger, openLedgerStore } from "../ledger/index.ts";
import { openStorage, type Storage } from "../storage/index.ts";
import type { CommonOptions } from "./options.ts";

/** The real world. */
export const environment: Environment = {
  clock: Date.now,
  randomBytes: (size) => randomBytes(size),
  randomFraction: Math.random,
  fetch: (url, init) => fetch(url, init),
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
  const storage = openStorage(options.storage ?? loaded.config.storage);
  try {
    const accounts = openLedgerStore(storage);
    const ledger = new Ledger({ store: accounts });
    return await work({ loaded, storage, accounts, ledger, tokens: openTokenStore(storage), environment });
  } finally {
    storage.close();
  }
}
