/** The part of the configuration that lets a name stand for several targets. */
import { z } from "zod";
import { type FailureName, failureTraits, keysOf } from "../core/index.ts";
import { fromText } from "./values/from-text.ts";
import { duration as time } from "./values/units.ts";

const duration = fromText(time);

const unavailable = "unavailable";

/** The classes that a target is tried after; `unavailable` stands for all that say so of a target. */
const classes: readonly [string, ...string[]] = [unavailable, ...keysOf(failureTraits)];

const modelId = z.string().regex(/^[^/*]+\/[^*]+$/, "a model id with its prefix");

const globs = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const tokens = fromText(z.number().int().min(0));

const condition = z
  .strictObject({
    token: globs.describe("Ids of tokens."),
    user: globs.describe("Ids of users."),
    organisation: globs.describe("Ids of organisations."),
    operation: globs.describe(
      "Operations, as `operations` in /v1/models names them: chat, messages, image_generation.",
    ),
    input_tokens: z
      .strictObject({ min: tokens, max: tokens })
      .partial()
      .describe("The tokens of the input, estimated at four bytes each; both bounds included."),
  })
  .partial()
  .describe("The calls that the target is for; all of these must match, each by one of its globs. Unset: all calls.");

const target = z.strictObject({
  model: modelId.describe("A model id with its provider's prefix; never another route."),
  weight: fromText(z.number().positive().max(1_000_000))
    .prefault(1)
    .describe("With the strategy weighted: how often it comes first in its tier, compared with the others."),
  on: z
    .array(z.enum(classes))
    .min(1)
    .default([unavailable, "context_window"])
    .describe("The classes of failure after which it is tried (docs/routing.md)."),
  internal: fromText(z.boolean())
    .optional()
    .describe("Whether the model can be called by routes alone: callers cannot name it, and it is not listed."),
  when: condition.optional(),
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
    .enum(["order", "weighted", "least_busy", "least_cost"])
    .default("order")
    .describe(
      "The order within a tier: as written, drawn by weight for each call, by the fewest calls that run, or by the expected cost of the call.",
    ),
  over_budget: z
    .union([z.literal("next"), modelId])
    .optional()
    .describe(
      "For a call whose credits do not suffice for its first target: the next target, or this model. Unset: the call is refused.",
    ),
  price_of: modelId
    .optional()
    .describe("The model whose price is charged, whichever target answers. Unset: the price of the target."),
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

/** A model that a route names. */
interface NamedModel {
  /** The path of its key. */
  at: string;
  model: string;
  isTarget: boolean;
}

/** All models that a route names. */
export function modelsIn({
  tiers,
  over_budget: instead = "next",
  price_of: seller,
}: Pick<z.output<typeof modelRoute>, "tiers" | "over_budget" | "price_of">): NamedModel[] {
  const targets = tiers.flatMap((tier, number) =>
    tier.map(({ model }, place) => ({ at: `tiers.${number}.${place}.model`, model, isTarget: true })),
  );
  return [
    ...targets,
    ...(instead === "next" ? [] : [{ at: "over_budget", model: instead, isTarget: false }]),
    ...(seller === undefined ? [] : [{ at: "price_of", model: seller, isTarget: false }]),
  ];
}
