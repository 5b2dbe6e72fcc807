/** Common knowledge of the processes of a deployment: targets that fail, keys that are refused, and disabled targets. */
import { type Environment, everyUnref } from "../../core/index.ts";
import type { RunningPart } from "../../http/index.ts";
import {
  type Circuits,
  openTargetStore,
  readSharedKeyId,
  type OverrideChanges,
  Overrides,
  sharedKeyId,
  SharedTargets,
  type UpstreamRoute,
} from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { RoutingOptions } from "./routing.ts";

interface TargetSharingOptions {
  storage: Storage;
  environment: Environment;
  logger: Logger;
}

export interface TargetSharing extends Required<Pick<RoutingOptions, "overrides" | "onKeyChange">> {
  /** Learns at once of the changes that this process has made to the storage: only those of others are reported to it. */
  read: () => Promise<void>;
  /** Begins to share; calls may already be under way. `routes` are those in force. */
  share: (circuits: Circuits, routes: () => readonly UpstreamRoute[]) => RunningPart;
}

/** For the routers of a server, of one configuration after the other: they skip disabled targets, and report refused keys. */
export function createTargetSharing({ storage, environment, logger }: TargetSharingOptions): TargetSharing {
  const { clock } = environment;
  const overrides = new Overrides(clock);
  let shared: SharedTargets | undefined;
  return {
    overrides,
    read: async () => shared?.read(),
    onKeyChange: (prefix, key, change) => shared?.learnKey(sharedKeyId(prefix, key), change),
    share(circuits, routes) {
      shared = new SharedTargets({
        store: openTargetStore(storage),
        onForeignChange: (callback) => storage.onForeignCommit(callback, "targets"),
        clock,
        every: everyUnref,
        process: Buffer.from(environment.randomBytes(12)).toString("base64url"),
        circuits,
        overrides,
        adoptKey(id, state, changedAt) {
          const { prefix, ...key } = readSharedKeyId(id);
          routes()
            .find((route) => route.prefix === prefix)
            ?.keys.adopt(key, state, changedAt);
        },
        onOverrides: (changes) => logOverrides(logger, changes),
        onFailure: (reason) => logger.warn({ reason: String(reason) }, "targets are not shared"),
      });
      return shared;
    },
  };
}

function logOverrides(logger: Logger, { disabled, enabled }: OverrideChanges): void {
  for (const { target, until, reason, actor } of disabled) {
    const time = until === undefined ? undefined : new Date(until).toISOString();
    logger.warn({ target, until: time, reason, actor }, "target is disabled");
  }
  for (const target of enabled) logger.info({ target }, "target is enabled again");
}
