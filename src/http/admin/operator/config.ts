/** The configuration in force. */
import { z } from "@hono/zod-openapi";
import { callRights, findTokenState } from "../../../accounts/index.ts";
import { maskedConfig } from "../../../config/index.ts";
import { creditsNumber } from "../../../core/index.ts";
import { explainRoute as explain, explanationJson, modelOperations, circuitEnds } from "../../../routing/index.ts";
import { parseQuery } from "../../parse-query.ts";
import { accountsOf, adminRoute, listSchema, pageOf, pageQuery } from "../admin-route.ts";
import { reference } from "../requests.ts";
import type { OperatorNeeds } from "./operator-needs.ts";

export const configRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/config",
    operationId: "getConfiguration",
    summary: "The configuration in force, with *** in place of secrets; durations in milliseconds, sizes in bytes.",
    answer: z
      .object({ object: z.literal("config"), config: z.record(z.string(), z.unknown()) })
      .meta({ id: "AdminConfiguration" }),
  },
  async (_, { config }) => Promise.resolve(Response.json({ object: "config", config: maskedConfig(config) })),
);

const modelRoute = z
  .looseObject({
    object: z.literal("route"),
    id: z.string().describe("Its name."),
    tiers: z.array(z.array(z.looseObject({ model: z.string() }))).describe("Its targets."),
  })
  .meta({ id: "AdminRoute" });

export const routesRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/routes",
    operationId: "listModelRoutes",
    summary: "Names that stand for several models, as they are configured.",
    query: pageQuery,
    answer: listSchema(modelRoute),
  },
  async ({ request }, { config }) => {
    const routes = Object.entries(config.routing.routes).map(([id, route]) => ({ ...route, object: "route", id }));
    const page = parseQuery(request, pageQuery);
    return Promise.resolve(Response.json(pageOf(routes, page, { idOf: ({ id }) => id, show: (route) => route })));
  },
);

const explainQuery = z.object({
  model: z.string().min(1).max(256).describe("A model id, a route or an alias."),
  operation: z.enum(modelOperations).default("chat"),
  token: reference.optional().describe("The id of the token that calls; unset: one that may do everything."),
  input_tokens: countOf("The length of its input, for conditions and the cost."),
  output_tokens: countOf("The length of its answer, for the cost."),
});

function countOf(description: string) {
  return z.coerce.number().int().min(0).max(1_000_000_000).optional().describe(description);
}

const explanation = z
  .object({
    object: z.literal("route_explanation"),
    model: z.string(),
    route: z.string().nullable().describe("Null for a model without a route."),
    strategy: z.string().nullable(),
    over_budget: z.string().nullable().describe("The route that is asked once the credits are used up."),
    available: z
      .number()
      .nullable()
      .describe("Credits that are left for the token's calls of any model; null without a limit."),
    refused: z.string().nullable().describe("The code with which all calls of the token are refused now."),
    targets: z.array(
      z.object({
        tier: z.int(),
        model: z.string(),
        weight: z.number(),
        on: z.array(z.string()).describe("The failures after which it is tried, if another target comes before it."),
        asked: z.boolean(),
        why: z.string().nullable().describe("Why it is not asked."),
        message: z.string().nullable().describe("The sentence that a caller gets."),
        until: z.iso.datetime().nullable().describe("Until when it is left out."),
        price: z.record(z.string(), z.unknown()).nullable(),
        cost: z.number().nullable().describe("Credits for the given tokens."),
        available: z
          .number()
          .nullable()
          .describe("Credits that are left for the token's calls of this model, by all of its budgets."),
      }),
    ),
  })
  .meta({ id: "AdminRouteExplanation" });

export const explainRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/routes/explain",
    operationId: "explainModelRoute",
    summary: "The targets of a call: asked or not, why not, and the price. Nothing is sent.",
    query: explainQuery,
    answer: explanation,
    notFound: "There is no such model, or no such token in the caller's reach.",
  },
  async (call, needs) => {
    const asked = parseQuery(call.request, explainQuery);
    const { model, operation, token, input_tokens: input, output_tokens: output } = asked;
    const deps = accountsOf(call, needs);
    // Throws if it is out of the caller's reach.
    const id = token === undefined ? undefined : (await findTokenState(deps, token)).token.id;
    const rights = id === undefined ? undefined : await callRights(deps, id);
    const { router, config, targets, clock } = needs;
    const states = config.routing.circuits ? await targets.statesSince(0) : [];
    const explained = explain(router, {
      modelId: model,
      operation,
      usage: input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 },
      caller: rights?.caller ?? { models: undefined },
      availableFor: (target) => rights?.availableFor(target),
      openUntil: circuitEnds(states, clock()),
    });
    const { available, refusal } = rights ?? {};
    return Response.json({
      object: "route_explanation",
      model,
      available: available === undefined ? null : creditsNumber(available),
      refused: refusal?.code ?? null,
      ...explanationJson(explained),
    });
  },
);
