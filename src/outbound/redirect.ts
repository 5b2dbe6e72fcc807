import { OutboundError } from "./outbound-error.ts";

/** The part of a request that a redirect can change. */
export interface Hop {
  url: URL;
  method: "GET" | "POST" | "DELETE";
  headers: Headers;
  body: string | Uint8Array | undefined;
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that another origin may get: they describe the client, not the caller. All others may be credentials. */
const anonymousHeaders: ReadonlySet<string> = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);

export function isRedirect(status: number, location: string | null): location is string {
  return location !== null && redirectStatuses.has(status);
}

/**
 * The request that follows a redirect; its URL is not checked yet. Methods change as in browsers: 303 continues with GET,
 * 301 and 302 turn POST into GET, 307 and 308 repeat the request. Throws an `OutboundError` if the connection would lose
 * its encryption and may not, or if another origin would get the body.
 */
export function followRedirect(
  hop: Hop,
  status: number,
  { location, mayLoseEncryption }: { location: string; mayLoseEncryption: boolean },
): Hop {
  const url = URL.parse(escapeBytes(location), hop.url.href);
  if (url === null) throw new OutboundError("redirects", "it redirects to an invalid address");
  if (!mayLoseEncryption && hop.url.protocol === "https:" && url.protocol === "http:") {
    throw new OutboundError("redirects", "it redirects from https: to http:");
  }
  const isSameOrigin = url.origin === hop.url.origin;
  const isRepeated = status === 307 || status === 308;
  const body = isRepeated ? hop.body : undefined;
  if (body !== undefined && !isSameOrigin) {
    throw new OutboundError("redirects", "it redirects a body to another origin");
  }
  return {
    url,
    method: isRepeated ? hop.method : "GET",
    headers: keptHeaders(hop.headers, { isSameOrigin, hasBody: body !== undefined }),
    body,
  };
}

/**
 * Encodes the bytes beyond ASCII of an address that was read as Latin-1, as browsers do: most are UTF-8, and those of another
 * encoding come back to the server as it wrote them.
 */
export function escapeBytes(address: string): string {
  return address.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

function keptHeaders(
  headers: Headers,
  { isSameOrigin, hasBody }: { isSameOrigin: boolean; hasBody: boolean },
): Headers {
  const kept = new Headers();
  for (const [name, value] of headers) {
    const describesBody = name.startsWith("content-");
    if (describesBody ? hasBody : isSameOrigin || anonymousHeaders.has(name)) kept.append(name, value);
  }
  return kept;
}
