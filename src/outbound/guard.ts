/**
 * The guard for addresses that callers choose, against server-side request forgery: the gateway must not be used to reach
 * the operator's own network.
 *
 *   URL ──check──▶ place (scheme, host, port permitted) ──locate──▶ addresses, each of them public
 *
 * The request then connects to one of these addresses. The name is not looked up again, since a resolver can return a
 * public address first and a private one afterwards (DNS rebinding).
 */
import { limits } from "../core/index.ts";
import { OutboundError } from "./outbound-error.ts";
import { isAllowedHost } from "./private-hosts.ts";
import { publicAddress } from "./public-address.ts";

/** All addresses of a name. Rejects with `ENOTFOUND` if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface GuardOptions {
  /** Globs of `host` or `host:port` that may be private, and have any port. */
  allowPrivateHosts: readonly string[];
  /** The ports of all other hosts. */
  allowPorts: readonly number[];
  resolve: Resolve;
  /**
   * The addresses of this machine, in any notation. Even the public ones are refused: a firewall in front of the machine
   * does not apply to its own connections.
   */
  ownAddresses: () => readonly string[];
}

/** A permitted URL. Its addresses are not known yet. */
export interface Place {
  /** Normalised, without a fragment. */
  readonly url: URL;
  /** The operator permits the host, whatever its addresses are. */
  readonly mayBePrivate: boolean;
}

export class AddressGuard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Checks all of a URL that can be checked without a look-up. Throws an `OutboundError`. */
  check(text: string): Place {
    const url = readUrl(text);
    const port = portOf(url);
    if (isAllowedHost(this.#options.allowPrivateHosts, { host: url.hostname, port }))
      return { url, mayBePrivate: true };
    if (!this.#options.allowPorts.includes(port)) throw refused(`port ${port} is not permitted`);
    if (!mayBePublic(url)) throw notPublic();
    return { url, mayBePrivate: false };
  }

  /** The addresses to connect to, at least one. Rejects with an `OutboundError` if any address of the host is not public. */
  async locate({ url, mayBePrivate }: Place): Promise<readonly string[]> {
    const literal = addressIn(url);
    const found = literal === undefined ? await this.#resolve(url.hostname) : [literal];
    if (mayBePrivate) return found;
    const own = new Set(this.#options.ownAddresses().map(publicAddress));
    return found.map((each) => {
      const address = publicAddress(each);
      if (address === undefined || own.has(address)) throw notPublic();
      return address;
    });
  }

  async #resolve(name: string): Promise<readonly string[]> {
    let found: readonly string[];
    try {
      found = await this.#options.resolve(name);
    } catch (cause) {
      const isUnknown = cause instanceof Error && "code" in cause && unknownNameCodes.has(cause.code);
      throw isUnknown
        ? unresolved(cause)
        : new OutboundError("unreachable", "its host could not be resolved", { cause });
    }
    if (found.length === 0) throw unresolved(undefined);
    return found;
  }
}

/** Whether an address that others read is https at its usual port, at a host that may be public as far as its name shows. */
export function isPublicHttps(text: string): boolean {
  try {
    const url = readUrl(text);
    return url.protocol === "https:" && portOf(url) === 443 && mayBePublic(url);
  } catch {
    return false;
  }
}

function mayBePublic(url: URL): boolean {
  const address = addressIn(url);
  return address === undefined ? !isLocalName(url.hostname) : publicAddress(address) !== undefined;
}

/** The codes of Node's resolver, and of Bun's. */
const unknownNameCodes: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA", "DNS_ENOTFOUND", "DNS_ENODATA"]);

function readUrl(text: string): URL {
  if (text.length > limits.outboundUrlCharactersMax) {
    throw refused(`it is longer than ${limits.outboundUrlCharactersMax} characters`);
  }
  if (!URL.canParse(text)) throw refused("it is no absolute URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refused("it is neither https: nor http:");
  if (url.username !== "" || url.password !== "") throw refused("it contains a user or a password");
  url.hash = "";
  // The dot at the end of a complete name: certificates and allowed hosts are written without it.
  const name = url.hostname.replace(/\.+$/, "");
  if (name !== url.hostname) url.hostname = name;
  if (url.hostname === "" || url.hostname.endsWith(".")) throw refused("it has no valid host");
  return url;
}

function portOf({ protocol, port }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** The IP address in a URL. The parser has converted every notation of an IPv4 address to the usual one. */
function addressIn({ hostname }: URL): string | undefined {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^[\d.]+$/.test(hostname) ? hostname : undefined;
}

/** This machine by definition (RFC 6761), whatever a resolver says. */
const isLocalName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");

function refused(message: string): OutboundError {
  return new OutboundError("refused", message);
}

/** The same for a private address and for a name that resolves to one: callers learn nothing about the network. */
function notPublic(): OutboundError {
  return refused("its host is not on the public Internet");
}

function unresolved(cause: unknown): OutboundError {
  return new OutboundError("unresolved", "its host has no address", { cause });
}
