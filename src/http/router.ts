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

/** Finds the route of a method and a path; undefined where there is none. */
export function createRouter(
  routes: readonly HttpRoute[],
): (method: string, path: string) => RoutedRequest | undefined {
  const router = new RegExpRouter<HttpRoute>();
  for (const route of routes) router.add(route.contract.method.toUpperCase(), route.contract.getRoutingPath(), route);
  return (method, path) => {
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
}

/** The path of a request, as routes are matched with it. */
export const pathOf: (request: Request) => string = getPath;

/** As it is where it is no escape of anything. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
