/** The providers, and the operator's switches. */
import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../../core/index.ts";
import {
  disableTarget,
  enableTarget,
  providerState,
  type TargetOverride,
  type UpstreamRoute,
} from "../../../routing/index.ts";
import { parseQuery } from "../../parse-query.ts";
import { accountsOf, adminRoute, listSchema, pageOf, pageQuery } from "../admin-route.ts";
import { actHeaders, actQuery, bodyOf, contextOf, idOf, reason } from "../requests.ts";
import type { OperatorNeeds } from "./operator-needs.ts";

const provider = z
  .object({
    object: z.literal("provider"),
    id: z.string().describe("Its prefix."),
    aliases: z.array(z.string()),
    base_url: z.string(),
    sandbox: z.boolean().describe("Whether a simulator answers."),
    state: z.enum(["enabled", "disabled", "no key"]),
    keys: z.int().describe("How many it has."),
    refused_keys: z.array(z.string()).describe("The ids of those that it refuses."),
    disabled: z
      .array(
        z.object({
          target: z.string().describe("The provider, or a model of it."),
          until: z.iso.datetime().nullable(),
          reason: z.string().nullable(),
          by: z.string(),
        }),
      )
      .describe("By hand."),
    left_out: z
      .array(z.object({ model: z.string(), until: z.iso.datetime() }))
      .describe("By themselves, after failures in series."),
  })
  .meta({ id: "AdminProvider" });

/** Shows one provider as it is known by all processes; `changed`: with this target's switch in place of the stored one. */
async function statesIn({ targets, clock }: OperatorNeeds, changed?: Switched) {
  const now = clock();
  const [stored, states] = [await targets.overrides(now), await targets.statesSince(0)];
  const others = stored.filter(({ target }) => target !== changed?.target);
  const overrides = changed === undefined ? stored : [...others, ...(changed.override ? [changed.override] : [])];
  return (route: UpstreamRoute): z.input<typeof provider> => {
    const { provider: id, state, ...rest } = providerState(route, { overrides, states, now });
    const { aliases, baseUrl, sandbox } = route;
    return {
      object: "provider",
      id,
      aliases: [...aliases],
      base_url: baseUrl,
      sandbox,
      state: provider.shape.state.parse(state),
      ...rest,
    };
  };
}

interface Switched {
  target: string;
  /** Undefined of one that is enabled. */
  override: TargetOverride | undefined;
}

export const providersRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/providers",
    operationId: "listProviders",
    summary: "Providers with their keys' state, and the targets that are left out.",
    query: pageQuery,
    answer: listSchema(provider),
  },
  async (call, needs) => {
    const page = parseQuery(call.request, pageQuery);
    const show = await statesIn(needs);
    return Response.json(pageOf(needs.router.routes, page, { idOf: ({ prefix }) => prefix, show }));
  },
);

const SECONDS_MAX = 366 * 86_400;

const body = z
  .strictObject({
    disabled: z.boolean().describe("Whether new calls are kept from it."),
    model: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe("A model of the provider, by its name there; unset: the whole provider."),
    for: z.int().min(1).max(SECONDS_MAX).nullish().describe("Seconds; unset: until it is enabled."),
    reason,
  })
  .meta({ id: "AdminProviderChange" });

export const switchRoute = adminRoute<OperatorNeeds>(
  {
    route: "patch /admin/v1/providers/{id}",
    operationId: "changeProvider",
    summary: "Let no new call go to a provider, or to one of its models, or end that.",
    params: z.object({ id: z.string().describe("A prefix or an alias.") }),
    query: actQuery,
    requestHeaders: actHeaders,
    body,
    answer: provider,
    notFound: "No provider has this prefix.",
  },
  async (call, needs) => {
    const wanted = await bodyOf(call, needs, body);
    const route = needs.router.withPrefix(idOf(call));
    if (route === undefined) throw new GatewayError("account_not_found", "No provider has this prefix.");
    const { admin, clock } = needs;
    const { reason: why, dryRun = false } = contextOf(call, wanted);
    const act = { actor: accountsOf(call, needs).caller.actor, reason: why, dryRun };
    const target = wanted.model === undefined ? route.prefix : `${route.prefix}/${wanted.model}`;
    const until = wanted.for == null ? undefined : clock() + wanted.for * 1_000;
    const acts = { log: admin.log, clock };
    const override = wanted.disabled ? await disableTarget(acts, { target, until }, act) : undefined;
    if (override === undefined) await enableTarget(acts, target, act);
    if (!dryRun) await needs.targets.read();
    return Response.json((await statesIn(needs, { target, override }))(route));
  },
);
