import { z } from "@hono/zod-openapi";
import type { RouteCall } from "../route.ts";

/**
 * The addresses of a model's method. SDKs call the versions `v1` and `v1beta`, older ones `v1beta1`, and two of them leave
 * `models/` out before an id with a slash (`docs/wire/gemini.md`).
 */
const places = ["/v1beta/models/", "/v1/models/", "/v1beta1/models/", "/v1beta/", "/v1/", "/v1beta1/"];

export const modelParams = z.object({
  model: z.string().describe("Provider-prefixed model id; the slash raw or encoded."),
});

/** The record of a paid call, as a link of the document. */
export const generationLink = {
  generation: { operationId: "getGeneration", parameters: { request_id: "$response.header.x-request-id" } },
};

/** The route at each of these addresses; the document describes the first. */
export function inAllPlaces<Route extends { path: string }>(route: Route): Route[] {
  const [first = "", ...others] = places;
  const rest = route.path.slice(first.length);
  return [route, ...others.map((place) => ({ ...route, path: place + rest, contract: undefined }))];
}

/** The model's id: a client may name it by `models/`, which it may have escaped too. */
export function modelOf({ pathParameter }: Pick<RouteCall, "pathParameter">): string {
  const named = pathParameter("model").replace(/^models\//, "");
  // In the group of a provider: `/v1/google/v1beta/models/gemini-2.5-pro`.
  const [, prefix, model = ""] = /^([^/]+)\/(?:v1(?:beta\d*|alpha)?\/)?models\/(.+)$/.exec(named) ?? [];
  if (prefix === undefined) return named;
  return model.startsWith(`${prefix}/`) ? model : `${prefix}/${model}`;
}
