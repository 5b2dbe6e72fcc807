/**
 * Cookies of the gateway. Over HTTPS their name begins with `__Host-`: browsers take such a one from this host alone, for all of its
 * paths, so that no other host of the domain can set one. Not every browser keeps a Secure cookie of plain HTTP on loopback: there
 * the name has no prefix, but the port, since cookies of one host are the same on all of its ports.
 */
import { isLoopbackName } from "../../core/index.ts";

export type CookiePurpose = "session" | "sign-in" | "connection";

interface CookieName {
  name: string;
  isSecure: boolean;
}

function plainName(purpose: CookiePurpose, { port }: URL): string {
  return `tollgate-${purpose}-${port === "" ? 80 : port}`;
}

function secureName(purpose: CookiePurpose): string {
  return `__Host-tollgate-${purpose}`;
}

/** The cookie for a page of this origin, at a gateway that was asked by this URL; undefined if none would be safe: on plain HTTP. */
export function cookieFor(purpose: CookiePurpose, origin: string, asked: URL): CookieName | undefined {
  const { protocol, hostname } = new URL(origin);
  if (protocol === "https:") return { name: secureName(purpose), isSecure: true };
  const isLocal = isLoopbackName(hostname) && isLoopbackName(asked.hostname);
  return isLocal ? { name: plainName(purpose, asked), isSecure: false } : undefined;
}

interface CookieValue {
  value: string;
  maxAgeSeconds: number;
  sameSite: "Strict" | "Lax";
}

/** A header `set-cookie`. Without a value the browser forgets the cookie. */
export function setCookie({ name, isSecure }: CookieName, { value, maxAgeSeconds, sameSite }: CookieValue): string {
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** The headers that let a browser forget the cookies of a purpose. */
export function forgetCookies(purpose: CookiePurpose, asked: URL): string[] {
  const none = { value: "", maxAgeSeconds: 0, sameSite: "Strict" } as const;
  const secure = setCookie({ name: secureName(purpose), isSecure: true }, none);
  const plain = { name: plainName(purpose, asked), isSecure: false };
  return asked.protocol === "http:" && isLoopbackName(asked.hostname) ? [secure, setCookie(plain, none)] : [secure];
}

/**
 * The value of a request's cookie; undefined without one. Of several with one name nobody knows which one this gateway has set: empty
 * text then, which is no value. Behind a proxy on the same machine that speaks HTTPS, as the public address shows, the name without the
 * prefix is nobody's: another host of the domain may have set it.
 */
export function cookieIn(
  header: string | null,
  purpose: CookiePurpose,
  { asked, publicUrl }: { asked: URL; publicUrl: string | undefined },
): string | undefined {
  if (header === null || !header.includes("tollgate-")) return undefined;
  const isPublic = publicUrl?.startsWith("https:") === true;
  const isLocal = !isPublic && asked.protocol === "http:" && isLoopbackName(asked.hostname);
  const names = isLocal ? [secureName(purpose), plainName(purpose, asked)] : [secureName(purpose)];
  const pairs = header.split(";").map((pair) => pair.trim());
  for (const name of names) {
    const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
    if (values.length > 0) return values.length === 1 ? values[0] : "";
  }
  return undefined;
}
