/** The state of the providers for their operator: keys, and targets that are left out, by themselves and by hand. */
import { modelOfCircuit } from "./circuits.ts";
import type { UpstreamRoute } from "../router.ts";
import { readSharedKeyId, type TargetOverride, type TargetState } from "../shared/store.ts";
import { switchJson } from "./switches.ts";

interface KnownOfTargets {
  overrides: readonly TargetOverride[];
  states: readonly TargetState[];
  now: number;
}

/** One provider, in answers and output of commands. Keys are named by their ids, which are no secrets. */
export function providerState({ prefix, keys, requiredVariable }: UpstreamRoute, known: KnownOfTargets) {
  const { overrides, states, now } = known;
  const own = overrides.filter(({ target }) => target === prefix || target.startsWith(`${prefix}/`));
  const isDisabled = own.some(({ target }) => target === prefix);
  const refused = states.flatMap(({ id, kind }) => (kind === "refused" ? [readSharedKeyId(id)] : []));
  const open = states.filter(
    ({ id, kind, openUntil }) => kind === "open" && openUntil > now && id.startsWith(`${prefix}/`),
  );
  return {
    provider: prefix,
    state: requiredVariable !== undefined ? "no key" : isDisabled ? "disabled" : "enabled",
    keys: requiredVariable === undefined ? keys.ids.length : 0,
    refused_keys: keys.ids.filter((id) => refused.some((each) => each.prefix === prefix && each.keyId === id)),
    disabled: own.map(switchJson),
    left_out: open.map(({ id, openUntil }) => ({
      model: modelOfCircuit(id),
      until: new Date(openUntil).toISOString(),
    })),
  };
}
