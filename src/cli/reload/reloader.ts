/** Reads the configuration again while the server runs, and puts it into force if all of it can be. */
import { type ConfigChange, changesOf, ConfigError, type LoadedConfig } from "../../config/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/** The result of a reload. Paths are those of keys, two deep; no value is among them. */
export interface ReloadOutcome {
  ok: boolean;
  /** The settings that take effect from now on. */
  changed: readonly string[];
  /** Those that differ, but are read at a start alone. */
  need_restart: readonly string[];
  /** Why nothing has changed: one line, which names the key. */
  error?: string;
}

export interface ReloadRequest {
  /** Removes providers even if stored answers, files or jobs need them. */
  force?: boolean;
  /** Reads only the files with secrets again. */
  secretsOnly?: boolean;
}

interface ReloaderOptions {
  /** The configuration in force. */
  loaded: LoadedConfig;
  /** Reads the configuration. Throws a `ConfigError`. */
  read: (from: { text?: string | undefined }) => LoadedConfig;
  /** Puts a configuration into force everywhere. Rejects with a `ConfigError` if that changes nothing. */
  apply: (next: LoadedConfig, request: ReloadRequest) => Promise<void>;
  /** The stored records of these providers, by prefix: a line for each that has some. */
  neededFrom: (prefixes: readonly string[]) => Promise<readonly string[]>;
  logger: Pick<Logger, "info" | "error">;
}

export class Reloader {
  readonly #options: ReloaderOptions;
  #loaded: LoadedConfig;
  /** One reload after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
  }

  /** The configuration in force, with the earlier values of settings that need a restart. */
  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  /** Never rejects. */
  reload(request: ReloadRequest = {}): Promise<ReloadOutcome> {
    const outcome = this.#last.then(() => this.#attempt(request));
    this.#last = outcome;
    return outcome;
  }

  /** Compares the configuration with the one in force, which stays. Never rejects. */
  check(request: ReloadRequest = {}): Promise<ReloadOutcome> {
    const outcome = this.#last.then(async (): Promise<ReloadOutcome> => {
      try {
        const { changed, needRestart } = (await this.#compare(request)).change;
        return { ok: true, changed, need_restart: needRestart };
      } catch (thrown) {
        return refusal(thrown);
      }
    });
    this.#last = outcome;
    return outcome;
  }

  async #attempt(request: ReloadRequest): Promise<ReloadOutcome> {
    const { logger } = this.#options;
    try {
      const { changed, needRestart } = await this.#reload(request);
      logger.info({ changed, need_restart: needRestart }, "configuration reloaded");
      return { ok: true, changed, need_restart: needRestart };
    } catch (thrown) {
      const refused = refusal(thrown);
      logger.error({ reason: refused.error }, "the configuration was refused; the one before stays in force");
      return refused;
    }
  }

  async #reload(request: ReloadRequest): Promise<ConfigChange> {
    const { next, change } = await this.#compare(request);
    const loaded = { ...next, config: change.config };
    await this.#options.apply(loaded, request);
    this.#loaded = loaded;
    return change;
  }

  async #compare({ secretsOnly, force }: ReloadRequest): Promise<{ next: LoadedConfig; change: ConfigChange }> {
    const before = this.#loaded;
    const next = this.#options.read(secretsOnly === true ? { text: before.text } : {});
    const change = changesOf(before.config, next.config);
    if (force !== true) await this.#refuseLosses(before, next);
    return { next, change };
  }

  /** A provider that is gone takes along all that callers have stored there. */
  async #refuseLosses({ config: before }: LoadedConfig, { config: next }: LoadedConfig): Promise<void> {
    const prefixes = new Set(Object.entries(next.providers).flatMap(([prefix, { aliases }]) => [prefix, ...aliases]));
    const gone = Object.keys(before.providers).filter((prefix) => !prefixes.has(prefix));
    if (gone.length === 0) return;
    const [first] = await this.#options.neededFrom(gone);
    if (first !== undefined)
      throw new ConfigError("providers", `${first}; reload with --force to remove it all the same`);
  }
}

function refusal(thrown: unknown): ReloadOutcome {
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  return { ok: false, changed: [], need_restart: [], error };
}
