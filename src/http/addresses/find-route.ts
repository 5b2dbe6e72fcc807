/** The route of a request, by its own path or by those of other APIs. */
import type { ModelOf } from "../../bodies/index.ts";
import { decoded, type RoutedRequest, type Router, UPGRADE } from "../router.ts";
import { azurePaths, withoutAzureVersion } from "./azure-paths.ts";

/** A request with its route. */
export interface FoundRoute extends RoutedRequest {
  /** Without what only the other API has. */
  request: Request;
  modelOf?: ModelOf | undefined;
}

/** Undefined if there is none; `method` is GET for HEAD. */
export function findRoute(router: Router, request: Request, method: string, path: string): FoundRoute | undefined {
  const isUpgrade = method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket";
  const find = (each: string): RoutedRequest | undefined =>
    (isUpgrade ? router.find(UPGRADE, each) : undefined) ?? router.find(method, each);
  const own = find(path);
  if (own !== undefined) return { ...own, request };
  for (const { path: meant, model } of azurePaths(path)) {
    const found = find(meant);
    if (found === undefined) continue;
    if (model === undefined) return { ...found, request: withoutAzureVersion(request) };
    const id = decoded(model);
    if (found.route.namesModel === true) return { ...found, request, modelOf: () => id };
  }
  const meant = router.findMeant(method, path);
  return meant && { ...meant, request };
}
