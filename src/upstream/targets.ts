/** The destination of a request, parsed from its URL. */
export interface RequestTarget {
  /** `https://host:port`, which identifies reusable connections. */
  readonly origin: string;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The rest of the request line, and the host header. */
  readonly lines: string;
  readonly isProxied: boolean;
}

const TARGETS_MAX = 1_000;
const URL_CHARACTERS_MAX = 1_024;

/** A cache: most requests use the same few URLs. */
export class RequestTargets {
  readonly #known = new Map<string, RequestTarget>();
  readonly #isProxied: (url: URL) => boolean;

  constructor(isProxied: (url: URL) => boolean) {
    this.#isProxied = isProxied;
  }

  /** Throws a TypeError for a URL that is not HTTP, or contains a user. */
  find(url: string): RequestTarget {
    const known = this.#known.get(url);
    if (known !== undefined) return known;
    const target = this.#read(url);
    if (this.#known.size >= TARGETS_MAX) this.#known.clear();
    if (url.length <= URL_CHARACTERS_MAX) this.#known.set(url, target);
    return target;
  }

  #read(text: string): RequestTarget {
    const url = new URL(text);
    const isSecure = url.protocol === "https:";
    if (!isSecure && url.protocol !== "http:") throw new TypeError("an upstream's URL must be http: or https:");
    // They would have to become a header, and URLs are logged.
    if (url.username !== "" || url.password !== "") throw new TypeError("an upstream's URL must not hold credentials");
    return {
      origin: url.origin,
      hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
      port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
      isSecure,
      lines: `${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`,
      isProxied: this.#isProxied(url),
    };
  }
}
