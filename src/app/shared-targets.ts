/** Common knowledge of the processes of a deployment: targets that fail, keys that are refused, and disabled targets. */
import { everyUnref } from "../core/index.ts";
import type { RunningPart } from "../http/index.ts";
import {
  type Circuits,
  type ModelRouter,
  openTargetStore,
  type OverrideChanges,
  Overrides,
  sharedKeyId,
  SharedTargets,
} from "../routing/index.ts";
import type { Storage } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { createModelRouter, type RoutingOptions } from "./routing.ts";

interface SharedRouter {
  router: ModelRouter;
  /** Begins to share; calls may already be under way. */
  share: (circuits: Circuits | undefined) => RunningPart;
}

/** The router of a server: it skips disabled targets, and reports refused keys to the other processes. */
export function createSharedRouter(options: RoutingOptions & { storage: Storage; logger: Logger }): SharedRouter {
  const { storage, environment, logger } = options;
  const { clock } = environment;
  const overrides = new Overrides(clock);
  let shared: SharedTargets | undefined;
  const onKeyChange: RoutingOptions["onKeyChange"] = (prefix, keyId, change) =>
    shared?.learnKey(sharedKeyId(prefix, keyId), change);
  const router = createModelRouter({ ...options, overrides, onKeyChange });
  return {
    router,
    share(circuits) {
      shared = new SharedTargets({
        store: openTargetStore(storage),
        onForeignChange: (callback) => storage.onForeignCommit(callback, "targets"),
        clock,
        every: everyUnref,
        process: Buffer.from(environment.randomBytes(12)).toString("base64url"),
        circuits,
        overrides,
        adoptKey(id, state) {
          for (const { prefix, keys } of router.routes) {
            const keyId = keys.ids.find((each) => sharedKeyId(prefix, each) === id);
            if (keyId !== undefined) keys.adopt(keyId, state);
          }
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
