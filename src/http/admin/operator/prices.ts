import { z } from "@hono/zod-openapi";
import { originOf } from "../../../config/index.ts";
import type { ListPrice } from "../../../routing/index.ts";
import { parseQuery } from "../../parse-query.ts";
import { adminRoute, listOf, listSchema, pageOf, pageQuery } from "../admin-route.ts";
import type { OperatorNeeds } from "./operator-needs.ts";

/** Ids of models are longer than others. */
const query = pageQuery.extend({ after: z.string().max(512).optional().describe("The last id of the page before.") });

const price = z
  .object({
    object: z.literal("price"),
    id: z.string().describe("The model, with the prefix of its provider."),
    prices: z.record(z.string(), z.unknown()).describe("By the keys of `pricing.models`, before markup."),
    layer: z.string().describe("`config`, `catalog` with the origin of its address, or `built-in`."),
    source: z.string().nullable(),
    made: z.string().nullable().describe("The day of a list price's catalog."),
  })
  .meta({ id: "AdminPrice" });

const idOf = ({ id }: { id: string }): string => id;

export const pricesRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/prices",
    operationId: "listPrices",
    summary: "The prices in force of all models that a layer names, with their origin.",
    query,
    answer: listSchema(price),
  },
  async ({ request }, needs) => {
    const { limit, after } = parseQuery(request, query);
    return Response.json(listOf(needs.listPrices({ limit: limit + 1, after }), limit, priceJson));
  },
);

function priceJson({ layer, ...rest }: ListPrice) {
  // The address of a catalog may have a secret in its path or query.
  const plain = layer.replace(/^catalog (.+)$/, (_, address: string) => `catalog ${originOf(address)}`);
  return { object: "price" as const, ...rest, layer: plain };
}

const unpriced = z
  .object({
    object: z.literal("unpriced_model"),
    id: z.string().describe("With the prefix of its provider."),
    provider: z.string(),
  })
  .meta({ id: "AdminUnpricedModel" });

export const unpricedRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/prices/unpriced",
    operationId: "listUnpricedModels",
    summary: "Models that a provider lists and that have no price: their calls are refused.",
    query,
    answer: listSchema(unpriced),
  },
  async ({ request }, { router, models }) => {
    const listed = await models.list();
    const without = listed.filter(({ route, model }) => router.priceOf(route, model.id) === undefined);
    const found = without.map(({ route, model }) => ({ id: `${route.prefix}/${model.id}`, provider: route.prefix }));
    const page = parseQuery(request, query);
    return Response.json(pageOf(found, page, { idOf, show: (each) => ({ object: "unpriced_model", ...each }) }));
  },
);
