/** The operator's acts on targets: each is a row of the audit log. A running gateway learns of them from the storage. */
import type { ActOptions, AuditLog } from "../../audit/index.ts";
import type { Clock } from "../../core/index.ts";
import { sharedKeyId, type TargetOverride, type TargetState } from "../shared/store.ts";
import { deleteOverride, findOverride, putOverride, putState } from "../sql/open.ts";

interface Switching {
  log: AuditLog;
  clock: Clock;
}

/** Lets no new call go to a provider, or to one of its models, until it is enabled or the time is over. */
export function disableTarget(
  { log, clock }: Switching,
  { target, until }: Pick<TargetOverride, "target" | "until">,
  options: ActOptions,
): Promise<TargetOverride> {
  return log.act(options, function* (note) {
    const createdAt = clock();
    const before = yield* findOverride(target, createdAt);
    const made = { target, until, reason: options.reason, actor: options.actor.name, createdAt };
    yield putOverride(made);
    note({
      act: "target.disable",
      target: `target:${target}`,
      before: before && switchJson(before),
      after: switchJson(made),
    });
    return made;
  });
}

/** Ends that. Resolves with whether it was disabled. */
export function enableTarget({ log, clock }: Switching, target: string, options: ActOptions): Promise<boolean> {
  return log.act(options, function* (note) {
    const before = yield* findOverride(target, clock());
    yield deleteOverride(target);
    if (before === undefined) return false;
    note({ act: "target.enable", target: `target:${target}`, before: switchJson(before) });
    return true;
  });
}

/** A disabled target, as the audit log, answers and output of commands have it. */
export function switchJson({ target, until, reason, actor }: TargetOverride) {
  return {
    target,
    until: until === undefined ? null : new Date(until).toISOString(),
    reason: reason ?? null,
    by: actor,
  };
}

/** Lets a key be used again for all operations that it was refused for; changes nothing if it was not refused. */
export function repairKey(
  { log, clock }: Switching,
  { prefix, keyId, states }: { prefix: string; keyId: string; states: readonly TargetState[] },
  options: ActOptions,
): Promise<void> {
  const id = sharedKeyId(prefix, { keyId });
  const refused = states.filter(
    (state) => state.kind === "refused" && (state.id === id || state.id.startsWith(`${id} `)),
  );
  return log.act(options, function* (note) {
    const change = { openUntil: 0, pauseMs: 0, process: options.actor.name, changedAt: clock() };
    for (const each of [id, ...refused.map((state) => state.id)])
      yield putState({ ...change, id: each, kind: "repaired" });
    if (refused.length > 0) note({ act: "key.repair", target: `key:${prefix}/${keyId}`, after: { key: keyId } });
  });
}
