/**
 * A guard against DNS rebinding: a web page whose host name resolves to a loopback address could send requests to servers that
 * trust all local clients. The browser sends the page's origin as `Origin` and its host name as `Host`, and a page cannot change
 * either header.
 */
import { matchesGlob } from "../core/index.ts";

export interface OriginPolicy {
  /** Whether the server listens on this machine alone. Clusters and proxies send a `Host` of their own. */
  isLocal: boolean;
  /** The address for callers. */
  publicUrl: URL;
  /** Globs of the pages that the operator lets call. */
  origins: readonly string[];
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Why a request is refused (403); undefined if it is admitted. */
export function originRefusal(headers: Headers, { isLocal, publicUrl, origins }: OriginPolicy): string | undefined {
  const host = headers.get("host") ?? "";
  if (isLocal && !LOOPBACK.test(host) && host.toLowerCase() !== publicUrl.host)
    return "This Host is not the gateway's.";
  const origin = headers.get("origin");
  if (origin === null || origin === publicUrl.origin || isLoopback(origin)) return undefined;
  return origins.some((glob) => matchesGlob(glob, origin)) ? undefined : "Pages of this Origin may not call.";
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\//.test(origin) && LOOPBACK.test(origin.slice(origin.indexOf("//") + 2));
}
