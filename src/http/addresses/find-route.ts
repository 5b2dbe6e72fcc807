/** The route of a request, by its own path or by those of other APIs. */
import type { ModelOf } from "../../bodies/index.ts";
import { decoded, type RoutedRequest, type Router, UPGRADE } from "../router.ts";
import { azurePaths, withoutAzureVersion } from "./azure-paths.ts";
import { providerPaths } from "./provider-paths.ts";

/** A request with its route. */
export interface FoundRoute extends RoutedRequest {
  /** Without what only the other API has. */
  request: Request;
  modelOf?: ModelOf | undefined;
  /** The prefix of the provider whose group the path is in. There may be no such provider. */
  provider?: string;
}

/** The models of the providers' groups. */
export interface ModelGroups {
  /** Undefined if no provider has this prefix. */
  withPrefix(prefix: string): object | undefined;
  /** The id of a model that is named in the group of a provider. Throws 422 for another provider's. */
  modelWithin(prefix: string, model: string): string;
}

interface Finding {
  router: Router;
  groups: ModelGroups;
}

/** Undefined if there is none; `method` is GET for HEAD. */
export function findRoute(
  { router, groups }: Finding,
  request: Request,
  method: string,
  path: string,
): FoundRoute | undefined {
  const isUpgrade = method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket";
  const own = find(router, isUpgrade, method, path);
  if (own !== undefined) return { route: own.route, pathParameter: own.pathParameter, request };
  for (const { path: meant, model } of azurePaths(path)) {
    const found = find(router, isUpgrade, method, meant);
    if (found === undefined) continue;
    if (model === undefined) return { ...found, request: withoutAzureVersion(request) };
    const id = decoded(model);
    if (found.route.namesModel === true) return { ...found, request, modelOf: () => id };
  }
  for (const { path: meant, provider } of providerPaths(path)) {
    const found = router.find(method, meant);
    if (found?.route.namesModel !== true && found?.route.isGrouped !== true) continue;
    const modelOf: ModelOf = (model) => (model === undefined ? undefined : groups.modelWithin(provider, model));
    return { ...found, request, modelOf, provider };
  }
  const meant = router.findMeant(method, path);
  return meant && { ...meant, request };
}

/** A path may be that of a WebSocket and of a GET. */
function find(router: Router, isUpgrade: boolean, method: string, path: string): RoutedRequest | undefined {
  return (isUpgrade ? router.find(UPGRADE, path) : undefined) ?? router.find(method, path);
}
