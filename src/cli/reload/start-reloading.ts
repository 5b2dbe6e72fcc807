/** Everything that makes a serving process read its configuration again. */
import { hostname } from "node:os";
import { createAccounts } from "../../app/accounts.ts";
import { fingerprintOf, type LoadedConfig } from "../../config/index.ts";
import { NodePresence, openNodeStore } from "../../nodes/index.ts";
import { neededProviders } from "../../objects/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { onHangUp } from "../server/on-hang-up.ts";
import { environment } from "../state.ts";
import { version } from "../../core/index.ts";
import { nameKeys } from "./name-keys.ts";
import { Reloader, type ReloadRequest } from "./reloader.ts";
import { SourceWatch } from "./source-watch.ts";

export interface ReloadingOptions {
  loaded: LoadedConfig;
  /** Whether a changed file is read without being asked to. Files with secrets always are. */
  watch: boolean;
  read: (from: { text?: string | undefined }) => LoadedConfig;
  apply: (next: LoadedConfig, request: ReloadRequest) => Promise<void>;
  /** A hash of the price catalog in force, or several of workers that differ; undefined if there is only the built-in one. */
  catalogHash: () => string | undefined;
  /** The port that this process can hand over. */
  port: number | undefined;
  /** Ends this process. */
  end: () => void;
  storage: Storage;
  logger: Logger;
}

/**
 * Reloads at SIGHUP, at a request in the storage, and when a watched file has changed, from now on. Returns a function that ends the
 * node's presence in the storage.
 */
export function startReloading({ watch, end, port, storage, ...options }: ReloadingOptions): () => Promise<void> {
  const { clock } = environment;
  const reloader = new Reloader({
    ...options,
    async apply(next, request) {
      const [{ config: before }, { config }] = [reloader.loaded, next];
      // Before the secret that they are known by is gone.
      await nameKeys(storage, { config: before, besides: config }, options.logger);
      await options.apply(next, request);
      await nameKeys(storage, { config, besides: before }, options.logger);
    },
    neededFrom: (prefixes) => neededProviders(storage, prefixes, clock()),
  });
  void nameKeys(storage, { config: options.loaded.config }, options.logger);
  const presence = new NodePresence({
    store: openNodeStore(storage),
    clock,
    node: { host: hostname(), pid: process.pid, version, port },
    fingerprint: () => {
      const catalog = options.catalogHash();
      return { ...fingerprintOf(reloader.loaded.config), ...(catalog !== undefined && { catalog }) };
    },
    perform: async ({ force, check }) => ({
      ...(await (check ? reloader.check({ force }) : reloader.reload({ force }))),
    }),
  });
  const { log } = createAccounts(storage, environment, "server");
  /** A reload that nobody has asked for by a command or a request, which have rows of their own. */
  const reloadUnasked = async (cause: string, request: ReloadRequest = {}): Promise<boolean> => {
    const { ok, changed, need_restart: needRestart } = await reloader.reload(request);
    if (ok && changed.length + needRestart.length > 0) {
      const after = { cause, changed, need_restart: needRestart };
      const act = { act: "config.reload", target: `node:${hostname()}:${process.pid}`, after };
      // The configuration is in force all the same if the storage takes no row.
      await log
        .note({ actor: { name: `node:${hostname()}:${process.pid}` } }, act)
        .catch((err: unknown) => options.logger.error({ err }, "the audit log has no row of this reload"));
    }
    return ok;
  };
  const reload = async (): Promise<void> => {
    // A command has noted how it wants the reload; a signal alone wants the usual one.
    if (!(await presence.beat())) await reloadUnasked("signal");
  };
  onHangUp({ reload: () => void reload(), end });
  new SourceWatch({
    inForce: () => reloader.loaded.secretFiles,
    onChange: () => reloadUnasked("secrets", { secretsOnly: true }),
  }).start();
  if (watch) {
    new SourceWatch({ inForce: () => fileOf(reloader.loaded), onChange: () => reloadUnasked("file") }).start();
  }
  return () => presence.leave();
}

function fileOf({ file, text }: LoadedConfig): ReadonlyMap<string, string> {
  return new Map(file === undefined || text === undefined ? [] : [[file, text]]);
}
