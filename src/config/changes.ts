import { isDeepStrictEqual } from "node:util";
import { objectOf } from "../core/index.ts";
import type { Config } from "./schema.ts";

/** Settings that are read at the start alone: listeners, storage and its key. A path names all that is below it. */
const NEEDS_RESTART = [
  "server",
  "storage",
  "storage_migrate",
  "storage_journal",
  "metrics",
  "otlp",
  "log.format",
  "upstream.client",
  "webhooks.encryption_key",
] as const;

/** The difference of a configuration to the one before. */
export interface ConfigChange {
  /** The configuration, with the earlier values of settings that need a restart. */
  config: Config;
  /** The paths of settings that differ and take effect at once: two keys deep, without any value. */
  changed: string[];
  /** The paths of those that need a restart. */
  needRestart: string[];
}

export function changesOf(before: Config, next: Config): ConfigChange {
  const paths = differences(before, next, 2);
  const needRestart = paths.filter((path) =>
    NEEDS_RESTART.some((each) => path === each || path.startsWith(`${each}.`)),
  );
  const { server, storage, storage_migrate, storage_journal, metrics, otlp, log, upstream, webhooks } = before;
  const config: Config = {
    ...next,
    server,
    storage,
    storage_migrate,
    storage_journal,
    metrics,
    otlp,
    log: { ...next.log, format: log.format },
    upstream: { ...next.upstream, client: upstream.client },
    webhooks: { ...next.webhooks, encryption_key: webhooks.encryption_key },
  };
  return { config, changed: paths.filter((path) => !needRestart.includes(path)), needRestart };
}

/** The paths at which two values differ, down to a depth. */
function differences(one: unknown, other: unknown, depth: number): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  const [left, right] = [objectOf(one), objectOf(other)];
  if (depth === 0 || left === undefined || right === undefined) return [""];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differences(left[key], right[key], depth - 1).map((path) => (path === "" ? key : `${key}.${path}`)),
  );
}
