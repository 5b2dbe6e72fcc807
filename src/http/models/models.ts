import { z } from "@hono/zod-openapi";
import type { Principal } from "../../auth/index.ts";
import { GatewayError, listingSurface, namesVersion } from "../../core/index.ts";
import { type RoutedModel, unlistedModel, mayUse, quoted } from "../../routing/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import { anthropicModel, toAnthropicModel } from "./anthropic-model.ts";
import { googleModel, googleModelList, googlePageOf, googlePageQuery, toGoogleModel } from "./google-model.ts";
import { toLitellmModel } from "./litellm-models.ts";
import { type ModelServices, openaiModel, toOpenaiModel } from "./openai-model.ts";
import { namedRoute, namedRoutes } from "./named-routes.ts";
import { type ModelPage, pageOf, pageQuery } from "./page.ts";

export const modelsAnswer = z
  .object({ object: z.literal("list"), data: z.array(openaiModel) })
  .meta({ id: "ModelList" });

const anthropicAnswer = z
  .object({
    data: z.array(anthropicModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  } satisfies Record<keyof ModelPage<unknown>, z.ZodType>)
  .describe("With the header anthropic-version.")
  .meta({ id: "AnthropicModelList" });

/** Those of the token, or of these the models of one provider. */
async function allowedModels(
  { models, router }: ModelServices,
  { principal, provider }: Pick<RouteCall, "principal" | "provider">,
): Promise<RoutedModel[]> {
  const listed = await models.list();
  if (provider !== undefined) {
    const group = router.withPrefix(provider);
    return listed.filter(({ route, model }) => route === group && mayUse(principal, route, model.id));
  }
  const named = namedRoutes(router, principal);
  const names = new Set(named.map(({ name }) => name));
  const own = listed.filter(
    ({ route, model }) => mayUse(principal, route, model.id) && !names.has(`${route.prefix}/${model.id}`),
  );
  return [...named, ...aliasModels({ models, router }, listed, principal), ...own];
}

/** The operator's names for single models and routes that the token may use. */
function aliasModels(services: ModelServices, listed: readonly RoutedModel[], principal: Principal): RoutedModel[] {
  return services.router.aliasNames.flatMap((name) => {
    try {
      return [findModel(services, listed, { id: name, principal })];
    } catch (thrown) {
      if (thrown instanceof GatewayError) return [];
      throw thrown;
    }
  });
}

/** The models available to the caller's token. */
export const modelsRoute = platformRoute({
  contract: {
    path: "/v1/models",
    operationId: "listModels",
    tag: "Models",
    summary: "List provider-prefixed model IDs.",
    query: pageQuery.extend(googlePageQuery.shape),
    answer: z.union([modelsAnswer, anthropicAnswer, googleModelList]),
  },
  isGrouped: true,
  access: "token",
  surface: listingSurface,
  handle: async (call, services: ModelServices) => {
    const { request, principal } = call;
    if (isForGoogle(request)) return listForGoogle(call, services);
    const query = parseQuery(request, pageQuery);
    const allowed = await allowedModels(services, call);
    if (namesVersion(request.headers)) {
      const all = allowed.map((routed) => toAnthropicModel(services, routed));
      return Response.json(pageOf(all, query) satisfies z.input<typeof anthropicAnswer>);
    }
    const all = allowed.map((routed) => toOpenaiModel(services, routed, principal));
    const { data } = pageOf(all, { limit: all.length, ...query });
    return Response.json({ object: "list", data } satisfies z.input<typeof modelsAnswer>);
  },
});

/** The same at LiteLLM's addresses and in its form; the document describes `/v1/models` instead. */
export const litellmModelRoutes = ["/model/info", "/v1/model/info"].map((path) => {
  const { contract: _, ...undocumented } = platformRoute({
    contract: {
      path,
      operationId: "listLitellmModels",
      tag: "Models",
      summary: "The models of the token, in LiteLLM's form.",
      answer: z.unknown(),
    },
    access: "token",
    handle: async (call, services: ModelServices) => {
      const allowed = await allowedModels(services, call);
      return Response.json({ data: allowed.map((routed) => toLitellmModel(services, routed, call.principal)) });
    },
  });
  return undocumented;
});

function isForGoogle({ headers, url }: Request): boolean {
  return listingSurface(headers, url) === "gemini";
}

async function listForGoogle(call: RouteCall, services: ModelServices): Promise<Response> {
  const query = parseQuery(call.request, googlePageQuery);
  const allowed = await allowedModels(services, call);
  const all = allowed.map((routed) => toGoogleModel(services, routed));
  return Response.json(googlePageOf(all, query) satisfies z.input<typeof googleModelList>);
}

const googleContract = { tag: "Models", summary: "The models of the token, in Google's format." };

/** The same at Google's addresses. */
export const googleModelsRoute = platformRoute({
  contract: {
    ...googleContract,
    path: "/v1beta/models",
    operationId: "listGoogleModels",
    query: googlePageQuery,
    answer: googleModelList,
  },
  access: "token",
  surface: "gemini",
  handle: (call, services: ModelServices) => listForGoogle(call, services),
});

export const googleModelRoute = platformRoute({
  contract: {
    ...googleContract,
    path: "/v1beta/models/{model_id}",
    operationId: "getGoogleModel",
    params: z.object({ model_id: z.string().describe("Provider-prefixed model id; the slash raw or encoded.") }),
    answer: googleModel,
    notFound: "There is no such model, or the token may not use it.",
  },
  access: "token",
  surface: "gemini",
  takesSlashes: true,
  handle: async ({ principal, pathParameter }, services: ModelServices) => {
    const id = pathParameter("model_id").replace(/^models\//, "");
    return Response.json(toGoogleModel(services, findModel(services, await services.models.list(), { id, principal })));
  },
});

/** Both at the version that older SDKs call; the document describes the other. */
export const formerGoogleRoutes = [googleModelsRoute, googleModelRoute].map((route) => {
  const { contract: _, ...former } = route;
  return { ...former, path: route.path.replace("/v1beta/", "/v1beta1/") };
});

/** One of them. A model that is not listed is described by its price: providers accept more names than they list. */
export const modelRoute = platformRoute({
  contract: {
    path: "/v1/models/{model_id}",
    operationId: "getModel",
    tag: "Models",
    summary: "One model; the slash of its id raw or encoded.",
    params: z.object({ model_id: z.string().describe("Provider-prefixed model id.") }),
    answer: z.union([openaiModel, anthropicModel, googleModel]),
    notFound: "There is no such model, or the token may not use it.",
  },
  access: "token",
  surface: listingSurface,
  takesSlashes: true,
  handle: async ({ request, principal, pathParameter }, services: ModelServices) => {
    const routed = findModel(services, await services.models.list(), { id: pathParameter("model_id"), principal });
    if (isForGoogle(request)) return Response.json(toGoogleModel(services, routed));
    const described = namesVersion(request.headers)
      ? toAnthropicModel(services, routed)
      : toOpenaiModel(services, routed, principal);
    return Response.json(described);
  },
});

/** A model or a route by its id or an alias. Throws a `GatewayError` (404) for any other, and for one that the token may not use. */
function findModel(
  { router }: Pick<ModelServices, "router">,
  listed: readonly RoutedModel[],
  { id, principal }: { id: string; principal: Principal },
): RoutedModel {
  const named = router.routeOf(id);
  if (named !== undefined) {
    const found = namedRoute(router, named, principal);
    return named.name === id ? found : { ...found, name: id, aliasOf: named.name };
  }
  const { route, model } = router.find(id, principal);
  const found = listed.find((each) => each.route === route && each.model.id === model);
  if (found === undefined && !router.isKnown(route, model)) {
    throw new GatewayError("model_not_routed", `The provider ${route.prefix} lists no model ${quoted(model)}.`, {
      param: "model_id",
    });
  }
  const routed = found ?? { route, model: unlistedModel(model) };
  return router.isAlias(id) ? { ...routed, name: id, aliasOf: `${route.prefix}/${model}` } : routed;
}
