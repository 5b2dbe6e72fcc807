import type { Cookie } from "playwright-core";

/** Headers that describe the connection or the message: the browser's own are right. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export interface CallerHeaders {
  /** The browser's user agent, if the caller names one: pages read it as well. */
  userAgent: string | undefined;
  /** Cookies that the browser starts with, beside those that the page sets. */
  cookies: readonly Pick<Cookie, "name" | "value">[];
  /** All others. */
  sent: readonly { name: string; value: string }[];
}

/** Sorts the caller's headers by how the browser is given them. Those that no header may be are left out. */
export function sortHeaders(headers: Readonly<Record<string, string>>): CallerHeaders {
  const known = Object.entries(headers).map(([name, value]) => ({ name: name.trim().toLowerCase(), value }));
  const sent = known.filter(({ name, value }) => isPermitted(name) && !/[\r\n\0]/.test(value));
  const valueOf = (wanted: string): string | undefined => sent.find(({ name }) => name === wanted)?.value;
  return {
    userAgent: valueOf("user-agent"),
    cookies: cookiesIn(valueOf("cookie") ?? ""),
    sent: sent.filter(({ name }) => name !== "user-agent" && name !== "cookie"),
  };
}

function isPermitted(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !ownHeaders.has(name) && !name.startsWith("proxy-");
}

function cookiesIn(header: string): { name: string; value: string }[] {
  return header.split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    return at === -1 || name === "" ? [] : [{ name, value: pair.slice(at + 1).trim() }];
  });
}
