import { GatewayError, type Surface } from "../core/index.ts";
import type { UpstreamFiles } from "../providers/index.ts";
import type { UpstreamRoute } from "../routing/index.ts";
import type { FileDependencies } from "./dependencies.ts";

/** A provider that stores files for callers. */
export interface FileProvider {
  route: UpstreamRoute;
  files: UpstreamFiles;
}

/** The place in a request that names its provider: its path, or in a field of its own that `/v1/files` has. */
export type NamedProvider = { prefix: string } | { asked: readonly string[]; surface: Surface };

/**
 * The provider of a request. Throws 404 for a path with an unknown provider, 422 for an unknown name in a field or for two
 * different ones, and 404 for a provider without files or without a key.
 */
export function chooseProvider(deps: Pick<FileDependencies, "router">, named: NamedProvider): FileProvider {
  const { router } = deps;
  if ("prefix" in named) {
    const route = router.withPrefix(named.prefix);
    if (route !== undefined) return withFiles(deps, route);
    throw new GatewayError("route_not_found", `There is no provider ${shown(named.prefix)} here.`);
  }
  const [name, ...others] = new Set(named.asked);
  if (name === undefined) return defaultProvider(deps, named.surface);
  const route = router.withPrefix(name);
  if (route === undefined || others.length > 0) {
    const what = route === undefined ? `there is no provider ${shown(name)}` : "the request names several providers";
    throw new GatewayError("validation_failed", `provider: ${what}; with files: ${known(deps)}.`, {
      param: "provider",
    });
  }
  return withFiles(deps, route);
}

/** The first provider of the API's own kind, else the first one with files in its format; one without a key only if there is no other. */
function defaultProvider(deps: Pick<FileDependencies, "router">, surface: Surface): FileProvider {
  const able = deps.router.routes.filter(({ provider: { files } }) => files?.surface === surface);
  const preferred = able.filter(({ provider: { files } }) => files?.isDefault === true);
  const candidates = [...preferred, ...able];
  const route = candidates.find(({ requiredVariable }) => requiredVariable === undefined) ?? candidates[0];
  if (route === undefined) throw new GatewayError("unsupported_operation", "No provider here stores such files.");
  return withFiles(deps, route);
}

function withFiles(deps: Pick<FileDependencies, "router">, route: UpstreamRoute): FileProvider {
  const { files } = route.provider;
  if (files === undefined) {
    const message = `The provider ${route.prefix} stores no files for callers; with files: ${known(deps)}.`;
    throw new GatewayError("unsupported_operation", message, { param: "provider" });
  }
  if (route.requiredVariable !== undefined) {
    const message = `The provider ${route.prefix} has no key. The operator must set ${route.requiredVariable}.`;
    throw new GatewayError("provider_without_key", message, { param: "provider" });
  }
  return { route, files };
}

function known({ router }: Pick<FileDependencies, "router">): string {
  const able = router.routes.filter(({ provider }) => provider.files !== undefined);
  return able.length === 0 ? "none" : able.map(({ prefix }) => prefix).join(", ");
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));
