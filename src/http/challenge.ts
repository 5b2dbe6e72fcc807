/** The challenge of a 401 (RFC 6750, RFC 9728). */
import type { Surface } from "../core/index.ts";

/** The URL of an MCP server by its path without the first slash; undefined if there can be none. */
export function resourceOf(publicUrl: string, path: string): string | undefined {
  const base = publicUrl.replace(/\/+$/, "");
  const own = new URL(base).pathname.replace(/^\/+/, "");
  const inner = own !== "" && path.startsWith(`${own}/`) ? path.slice(own.length + 1) : path;
  return /^mcp(?:\/[a-z0-9-]{1,32})?$/.test(inner) ? `${base}/${inner}` : undefined;
}

/** The header `www-authenticate`. At MCP it names the metadata, by the address for callers: `Host` is the client's. */
export function challengeOf(surface: Surface, publicUrl: string, path: string): string {
  if (surface !== "mcp") return "Bearer";
  const { origin, pathname } = new URL(resourceOf(publicUrl, path.slice(1)) ?? `${publicUrl}/mcp`);
  return `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource${pathname}"`;
}
