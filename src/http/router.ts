/**
 * Which route a request is for. Hono's router alone: its context is an object with a dozen functions for each request,
 * none of which is used here.
 */
import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";
import type { HttpRoute } from "./route.ts";

/** A route, with what stands in the path at its parameters. */
export interface RoutedRequest {
  route: HttpRoute;
  /** Decoded; empty for a parameter that the route doesn't have. */
  pathParameter: (name: string) => string;
}

type FindRoute = (method: string, path: string) => RoutedRequest | undefined;

/** Finds the route of a method and a path; undefined where there is none. */
export function createRouter(routes: readonly HttpRoute[]): FindRoute {
  const router = new RegExpRouter<HttpRoute>();
  for (const route of routes) router.add(methodOf(route), route.contract.getRoutingPath(), route);
  const find: FindRoute = (method, path) => {
    const [[found] = [], places = []] = router.match(method, path);
    if (found === undefined) return undefined;
    const [route, parameters] = found;
    return {
      route,
      pathParameter(name) {
        const value = parameters[name];
        return decoded((typeof value === "number" ? places[value] : value) ?? "");
      },
    };
  };
  const plain = withoutParameters(routes, find);
  return (method, path) => plain.get(method)?.get(path) ?? find(method, path);
}

/** What is found by method and path where nothing stands in the path: the same for thousands of requests. */
function withoutParameters(
  routes: readonly HttpRoute[],
  find: FindRoute,
): ReadonlyMap<string, ReadonlyMap<string, RoutedRequest>> {
  const plain = new Map<string, Map<string, RoutedRequest>>();
  for (const route of routes) {
    const method = methodOf(route);
    const path = route.contract.getRoutingPath();
    const found = path.includes(":") ? undefined : find(method, path);
    if (found === undefined) continue;
    const byPath = plain.get(method) ?? new Map<string, RoutedRequest>();
    plain.set(method, byPath.set(path, found));
  }
  return plain;
}

function methodOf({ contract }: HttpRoute): string {
  return contract.method.toUpperCase();
}

let urlBefore = "";
let pathBefore = "";

/** The path of a request, as routes are matched with it. Most requests have the URL of the one before. */
export function pathOf(request: Request): string {
  const { url } = request;
  if (url !== urlBefore) {
    pathBefore = getPath(request);
    urlBefore = url;
  }
  return pathBefore;
}

/** As it is where it is no escape of anything. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
