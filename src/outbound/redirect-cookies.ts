/** Cookies of one host that are kept, and characters of one. */
const COOKIES_MAX = 50;
const COOKIE_CHARACTERS_MAX = 4_096;

interface Cookie {
  value: string;
  isSecure: boolean;
}

/**
 * The cookies that redirects set, for the rest of one request: sites that set one and look whether it comes back would show
 * nothing else. Each goes only to the host that set it.
 */
export class RedirectCookies {
  readonly #byHost = new Map<string, Map<string, Cookie>>();

  /** @param header all `set-cookie` headers of a reply, joined by commas. */
  keep({ hostname }: URL, header: string | null): void {
    if (header === null) return;
    const cookies = this.#byHost.get(hostname) ?? new Map<string, Cookie>();
    this.#byHost.set(hostname, cookies);
    // A comma in a date is not followed by a name.
    for (const text of header.split(/,\s*(?=[^\s;,=]+=)/)) {
      const [, name, value] = /^\s*([^\s;,=]+)=([^;]*)/.exec(text) ?? [];
      if (name === undefined || value === undefined || text.length > COOKIE_CHARACTERS_MAX) continue;
      cookies.delete(name);
      if (/;\s*max-age\s*=\s*(?:0|-)/i.test(text) || cookies.size >= COOKIES_MAX) continue;
      cookies.set(name, { value: value.trim(), isSecure: /;\s*secure\s*(?:;|$)/i.test(text) });
    }
  }

  /** The headers for a request to this address: the given ones, and the cookies of its host. */
  addTo({ hostname, protocol }: URL, headers: Headers): Headers {
    const cookies = this.#byHost.get(hostname);
    if (cookies === undefined) return headers;
    const own = headers.get("cookie")?.split(/;\s*/) ?? [];
    const sent = own.filter((pair) => !cookies.has(pair.split("=", 1)[0] ?? ""));
    for (const [name, { value, isSecure }] of cookies)
      if (!isSecure || protocol === "https:") sent.push(`${name}=${value}`);
    if (sent.length === 0) return headers;
    const added = new Headers(headers);
    added.set("cookie", sent.join("; "));
    return added;
  }
}
