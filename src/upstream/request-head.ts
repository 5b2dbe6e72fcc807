import type { UpstreamRequest } from "../core/index.ts";

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

/** Headers that define the framing or the host: the client writes them itself, or has no use for them. */
const ownHeaders = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** The serialized headers, and the head's opening for their last target. */
interface Written {
  readonly lines: string;
  readonly method: UpstreamRequest["method"];
  readonly target: RequestTarget;
  readonly opening: string;
}

/** The same headers object is used for thousands of calls, and mostly for one target. */
const written = new WeakMap<Headers, Written>();

/**
 * The request line and the headers, each with its line end, as Latin-1. Throws a TypeError if a name or value could be
 * misread. Later changes of `headers` are ignored.
 */
export function headOpening({ method, headers }: UpstreamRequest, target: RequestTarget): string {
  const known = written.get(headers);
  if (known !== undefined && known.target === target && known.method === method) return known.opening;
  const lines = known?.lines ?? linesOf(headers);
  const opening = `${method} ${target.lines}${lines}`;
  written.set(headers, { lines, method, target, opening });
  return opening;
}

function linesOf(headers: Headers): string {
  let text = "";
  for (const [name, value] of headers) {
    if (ownHeaders.has(name)) continue;
    // The message contains neither: a value may be a key.
    if (!headerName.test(name)) throw new TypeError("a request header's name has characters that none may have");
    if (forbiddenInValue.test(value)) throw new TypeError(`the request header ${name} has forbidden characters`);
    text += `${name}: ${value}\r\n`;
  }
  return headers.has("accept-encoding") ? text : `${text}accept-encoding: identity\r\n`;
}
