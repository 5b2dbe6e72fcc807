/**
 * Finds the route of a request: a map of the paths without parameters, and Hono's routers for the others, one for each text
 * before the first parameter. The longest text is tried first: a path under `/v1/responses/` is never that of a provider
 * of this name. Methods of Google's models (`{model}:generateContent`) are found by the word behind the last colon. Hono's context is not used: it creates an object with a dozen functions per request.
 */
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { MountedRoute } from "./route.ts";

/** A route, with its path parameters. */
export interface RoutedRequest {
  route: MountedRoute;
  /** Decoded; empty for a parameter that the route does not have. */
  pathParameter: (name: string) => string;
}

/** A parameter in the path of a route. */
const parameter = /\{(\w+)\}/g;

/** A word behind the last parameter of a route, which takes everything before it. */
const calledMethod = /\{\w+\}:(\w+)$/;

/** The same at the end of a path; the colon may be escaped. */
const methodInPath = /(?::|%3a)(\w+)$/i;

/** The method under which WebSockets are found that have the path of an http route. */
export const UPGRADE = "UPGRADE";

function methodOf({ kind, method }: MountedRoute): string {
  return kind === "watch" ? UPGRADE : method.toUpperCase();
}

export interface Router {
  /** The route of a method and a path; undefined if there is none. */
  find: (method: string, path: string) => RoutedRequest | undefined;
  /**
   * The same for a path that a client has put together wrongly, from a base URL with or without its `/v1` or with a slash at
   * its end: `/v1/v1/models`, `/models`, `/v1/models/`.
   */
  findMeant: (method: string, path: string) => RoutedRequest | undefined;
  /** The methods that this path has; empty if it does not exist. */
  methodsOf: (path: string) => string[];
}

/** Throws if two routes have the same path. */
export function createRouter(routes: readonly MountedRoute[]): Router {
  refuseTwins(routes);
  const plain = new Map<string, Map<string, RoutedRequest>>();
  const byCalledMethod = new Map<string, { beginning: string; route: MountedRoute }[]>();
  const byBeginning = new Map<string, RegExpRouter<MountedRoute>>();
  for (const route of routes) {
    const method = methodOf(route);
    const called = calledMethod.exec(route.path);
    if (called !== null) {
      const name = `${method} ${called[1]}`;
      const beginning = route.path.slice(0, called.index);
      const places = [...(byCalledMethod.get(name) ?? []), { beginning, route }];
      byCalledMethod.set(
        name,
        places.toSorted((one, other) => other.beginning.length - one.beginning.length),
      );
    } else if (route.path.includes("{")) {
      const beginning = route.path.slice(0, route.path.indexOf("{"));
      const router = byBeginning.get(beginning) ?? new RegExpRouter<MountedRoute>();
      router.add(method, patternOf(route), route);
      byBeginning.set(beginning, router);
    } else {
      const byPath = plain.get(method) ?? new Map<string, RoutedRequest>();
      plain.set(method, byPath.set(route.path, { route, pathParameter: () => "" }));
    }
  }
  const routers = [...byBeginning].toSorted(([one], [other]) => other.length - one.length);
  const find: Router["find"] = (method, path) => {
    const found = plain.get(method)?.get(path);
    if (found !== undefined) return found;
    const called = findCalled(byCalledMethod, method, path);
    if (called !== undefined) return called;
    for (const [beginning, router] of routers) {
      const routed = path.startsWith(beginning) ? findIn(router, method, path) : undefined;
      if (routed !== undefined) return routed;
    }
    return undefined;
  };
  const methods = [...new Set(routes.map(methodOf))].filter((method) => method !== UPGRADE);
  return {
    find,
    findMeant: (method, path) => {
      const ended = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
      return find(method, ended) ?? find(method, withVersion(ended));
    },
    methodsOf: (path) => methods.filter((method) => find(method, path) !== undefined),
  };
}

/** The path with exactly one version at its beginning. */
function withVersion(path: string): string {
  const single = path.replace(/^(?:\/v1)+(?=\/v1\/)/, "");
  return /^\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/.test(single) ? single : `/v1${single}`;
}

/** In Hono's notation. */
function patternOf({ path, takesSlashes = false }: MountedRoute): string {
  return path.replace(parameter, ":$1") + (takesSlashes ? "{.+}" : "");
}

/** The second of two routes with the same path would never be called. */
function refuseTwins(routes: readonly MountedRoute[]): void {
  const places = new Set<string>();
  for (const route of routes) {
    const [method, path] = [methodOf(route), route.path];
    const place = `${method} ${path.replace(parameter, "{}")}`;
    if (places.has(place)) throw new Error(`two routes for ${route.method} ${path}`);
    places.add(place);
  }
}

/** `routes`: those of each method, the longest beginnings first. */
function findCalled(
  routes: ReadonlyMap<string, readonly { beginning: string; route: MountedRoute }[]>,
  method: string,
  path: string,
): RoutedRequest | undefined {
  const called = methodInPath.exec(path);
  if (called === null) return undefined;
  const first = routes
    .get(`${method} ${called[1]}`)
    ?.find(({ beginning }) => path.startsWith(beginning) && called.index > beginning.length);
  if (first === undefined) return undefined;
  return { route: first.route, pathParameter: () => decoded(path.slice(first.beginning.length, called.index)) };
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

/** Unchanged if it is not a valid escape. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
