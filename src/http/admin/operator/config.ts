/** The configuration in force. */
import { z } from "@hono/zod-openapi";
import { maskedConfig } from "../../../config/index.ts";
import { parseQuery } from "../../parse-query.ts";
import { adminRoute, listSchema, pageOf, pageQuery } from "../admin-route.ts";
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
