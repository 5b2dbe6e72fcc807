/**
 * Which route a request is for: a map of the paths without parameters, and Hono's router for the others. Hono's context is
 * not used: it is an object with a dozen functions for each request.
 */
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { MountedRoute } from "./route.ts";

/** A route, with what stands in the path at its parameters. */
export interface RoutedRequest {
  route: MountedRoute;
  /** Decoded; empty for a parameter that the route doesn't have. */
  pathParameter: (name: string) => string;
}

/** A parameter in the path of a route. */
const parameter = /\{(\w+)\}/g;

type FindRoute = (method: string, path: string) => RoutedRequest | undefined;

/** Finds the route of a method and a path; undefined where there is none. Throws where two routes stand at one place. */
export function createRouter(routes: readonly MountedRoute[]): FindRoute {
  refuseTwins(routes);
  const plain = new Map<string, Map<string, RoutedRequest>>();
  const router = new RegExpRouter<MountedRoute>();
  for (const route of routes) {
    const method = route.method.toUpperCase();
    if (route.path.includes("{")) {
      router.add(method, route.path.replace(parameter, ":$1"), route);
    } else {
      const byPath = plain.get(method) ?? new Map<string, RoutedRequest>();
      plain.set(method, byPath.set(route.path, { route, pathParameter: () => "" }));
    }
  }
  return (method, path) => plain.get(method)?.get(path) ?? findIn(router, method, path);
}

/** Of two routes at one place the second would never be called. */
function refuseTwins(routes: readonly MountedRoute[]): void {
  const places = new Set<string>();
  for (const { method, path } of routes) {
    const place = `${method} ${path.replace(parameter, "{}")}`;
    if (places.has(place)) throw new Error(`two routes for ${method} ${path}`);
    places.add(place);
  }
}

function findIn(router: RegExpRouter<MountedRoute>, method: string, path: string): RoutedRequest | undefined {
  const [[found] = [], values = []] = router.match(method, path);
  if (found === undefined) return undefined;
  const [route, parameters] = found;
  return {
    route,
    pathParameter(name) {
      const value = parameters[name];
      return decoded((typeof value === "number" ? values[value] : value) ?? "");
    },
  };
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
