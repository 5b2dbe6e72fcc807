/** The part of the configuration that lets a name stand for several targets. */
import { z } from "zod";
import { type FailureName, failureTraits, keysOf } from "../core/index.ts";
import { fromText } from "./from-text.ts";
import { duration as time } from "./units.ts";

const duration = fromText(time);

const unavailable = "unavailable";

/** The classes that a target is tried after; `unavailable` stands for all that say so of a target. */
const classes: readonly [string, ...string[]] = [unavailable, ...keysOf(failureTraits)];

const target = z.strictObject({
  model: z
    .string()
    .regex(/^[^/*]+\/[^*]+$/, "a model id with its prefix")
    .describe("A model id with its provider's prefix; never another route."),
  weight: fromText(z.number().positive().max(1_000_000))
    .prefault(1)
    .describe("With the strategy weighted: how often it comes first in its tier, compared with the others."),
  on: z
    .array(z.enum(classes))
    .min(1)
    .default([unavailable, "context_window"])
    .describe("The classes of failure after which it is tried (docs/routing.md)."),
});

/** The bounds of a call with several targets: for all routes, or for one. */
const bounds = {
  attempts: fromText(z.number().int().min(1).max(20)).describe(
    "The requests that a call with several targets may cause, all targets together.",
  ),
  deadline: duration.describe(
    "How long after its start such a call may begin another attempt. Unset: upstream.first_byte_timeout.",
  ),
  attempt_timeout: duration.describe(
    "How long a target but the last may take until its stream begins; its first content may then take twice as long.",
  ),
  whole_timeout: duration.describe(
    "How long a target but the last may take until its answer begins, if that is not streamed.",
  ),
  head_wait: duration.describe("After how long a stream's client gets its head, while targets are still tried."),
  commit: z
    .strictObject({ chars: fromText(z.number().int().min(1).max(100_000)), within: duration })
    .describe(
      "A stream must have so many characters in this time after its first content, or the next target is tried.",
    ),
};

const modelRoute = z.strictObject({
  ...z.object(bounds).partial().shape,
  tiers: z
    .array(z.array(target).min(1))
    .min(1)
    .describe("Targets; those of a later tier are tried after all of the earlier ones."),
  strategy: z
    .enum(["order", "weighted"])
    .default("order")
    .describe("The order within a tier: as written, or drawn by weight for each call."),
});

export const routing = z
  .strictObject({
    attempts: bounds.attempts.prefault(4),
    deadline: bounds.deadline.optional(),
    attempt_timeout: bounds.attempt_timeout.prefault("30s"),
    whole_timeout: bounds.whole_timeout.prefault("5m"),
    head_wait: bounds.head_wait.prefault("15s"),
    commit: bounds.commit.optional(),
    circuits: fromText(z.boolean())
      .prefault(true)
      .describe("Whether targets that fail again and again are left out for a while."),
    routes: z
      .record(
        z
          .string()
          .min(1)
          .regex(/^[^*]+$/, "a name without *"),
        modelRoute,
      )
      .prefault({})
      .describe("Names that stand for several targets: a name of your own without a slash, or a model id."),
  })
  .prefault({})
  .describe("Calls with several targets, of which the next one is tried after a failure.");

/** The classes of failure that a list of `on` names. */
export function failuresIn(on: readonly string[]): ReadonlySet<FailureName> {
  const named = new Set(on);
  return new Set(
    keysOf(failureTraits).filter(
      (name) => named.has(name) || (named.has(unavailable) && failureTraits[name].isUnavailable),
    ),
  );
}

/** The models of a route's targets, with the paths of their keys. */
export function targetsIn(tiers: readonly (readonly { model: string }[])[]): { at: string; model: string }[] {
  return tiers.flatMap((targets, tier) =>
    targets.map(({ model }, place) => ({ at: `tiers.${tier}.${place}.model`, model })),
  );
}
