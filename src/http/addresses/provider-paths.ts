/** The paths of a provider's group: `/v1/{prefix}/X` is `/v1/X` with the models of that provider. */
import { decoded } from "../router.ts";

/** A path within the group of a provider. */
export interface GroupedPath {
  provider: string;
  /** The same outside of it. */
  path: string;
}

/** The readings of a path that may be in a group; a client may put a version behind the base URL, as Anthropic's SDKs do. */
export function providerPaths(path: string): readonly GroupedPath[] {
  const [, prefix, rest = ""] = /^\/v1\/([^/]+)(\/.+)$/.exec(path) ?? [];
  if (prefix === undefined) return [];
  const provider = decoded(prefix);
  const own = { provider, path: `/v1${rest}` };
  return rest.startsWith("/v1/") ? [{ provider, path: rest }, own] : [own];
}
