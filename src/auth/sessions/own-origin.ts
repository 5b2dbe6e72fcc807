/** The guard against requests that a page of somebody else makes with a browser's cookie (CSRF). */
import { GatewayError } from "../../core/index.ts";

/**
 * Throws 403 unless a page of this gateway has made the request. Browsers add `Origin` to every request that is neither GET nor HEAD,
 * and to handshakes of WebSockets; no page can change it, nor `Sec-Fetch-Site`. Programs, which send neither, have tokens.
 */
export function requireOwnOrigin({ headers, url }: Request, publicUrl: string): string {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin !== null && (site === null || site === "same-origin") && isOwn(origin, new URL(url), publicUrl))
    return origin;
  throw new GatewayError(
    "cross_site",
    "Only pages of this gateway may do this with a browser's session: the request's Origin is not the gateway's.",
  );
}

/** A proxy may end TLS: then the gateway is asked by HTTP, from a page of HTTPS. The other way round, anybody on the way may be the page. */
function isOwn(origin: string, asked: URL, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host, origin: itself } = new URL(origin);
  return itself === origin && host === asked.host && (protocol === asked.protocol || protocol === "https:");
}
