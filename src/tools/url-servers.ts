/**
 * Servers of tools at addresses that callers name, as far as the operator permits them. Each caller has a client of their own, with
 * the headers of their request, which go to that address and nowhere else.
 */
import { createHash } from "node:crypto";
import type { AskUpstream, Clock } from "../core/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { secretForms, secretsIn } from "./clean-result.ts";
import { McpClient } from "./client/mcp-client.ts";
import { RecentMap } from "./recent-map.ts";
import { ToolServer } from "./tool-server.ts";

export interface UrlServersOptions {
  /** Addresses; all below their paths are permitted too. A host may begin with `*.`: any name below it. */
  allowed: readonly string[];
  outbound: Pick<Outbound, "fetch">;
  /** Of a call. */
  price: ModelPrice;
  version: string;
  ticker: Ticker;
  clock: Clock;
  logger: Logger;
  wait: (milliseconds: number) => Promise<void>;
}

/** A server that a request names. */
export interface NamedServer {
  url: string;
  /** Sent with every request to it. */
  headers: Readonly<Record<string, string>>;
  /** The id of the user whose request it is. */
  user: string;
}

/** Servers of all users that are remembered, with their sessions and lists: a user may name any number of headers. */
const SERVERS_MAX = 100;
const LIST_BYTES_MAX = 512 * 1024;

const CALL_MS_MAX = 60_000;
const RESULT_BYTES_MAX = 1024 * 1024;

/** Nobody has asked such a server before. */
const FIRST_LIST_MS_MAX = 15_000;

/** Of a request, with the bounds of the client around its own. */
const REQUEST_MS_MAX = 2 * CALL_MS_MAX;
const REQUEST_BYTES_MAX = 8 * 1024 * 1024;

export class UrlServers {
  readonly #options: UrlServersOptions;
  readonly #allowed: readonly AllowedAddress[];
  readonly #servers = new RecentMap<ToolServer>(SERVERS_MAX);

  constructor(options: UrlServersOptions) {
    this.#options = options;
    this.#allowed = options.allowed.map(readAllowed);
  }

  permits(url: string): boolean {
    return this.#allowedFor(url) !== undefined;
  }

  /** Undefined for an address that is not permitted. */
  server({ url, headers, user }: NamedServer): ToolServer | undefined {
    const allowed = this.#allowedFor(url);
    if (allowed === undefined) return undefined;
    const key = createHash("sha256")
      .update(JSON.stringify([user, url, headers]))
      .digest("base64");
    return this.#servers.use(key, () => this.#create(allowed.name, url, headers));
  }

  #allowedFor(text: string): AllowedAddress | undefined {
    const url = URL.parse(text);
    if (url === null || url.username !== "" || url.password !== "") return undefined;
    return this.#allowed.find((allowed) => allowed.permits(url));
  }

  #create(name: string, url: string, headers: NamedServer["headers"]): ToolServer {
    const { outbound, price, version, ticker, clock, logger, wait } = this.#options;
    const client = new McpClient({ name, url, headers, version, ask: askThrough(outbound), ticker });
    const values = Object.values(headers).map((value) => value.replace(/^(?:Bearer|Basic|Token) /i, ""));
    const secrets = secretForms([...values, ...secretsIn(Object.fromEntries(new URL(url).searchParams))]);
    return new ToolServer({
      name,
      accessOf: () => ({ key: "", owner: "", lists: client, calls: client, secrets: () => secrets }),
      pins: undefined,
      tools: undefined,
      priceOf: () => price,
      chargesErrors: () => false,
      isIdempotent: () => false,
      timeoutMs: CALL_MS_MAX,
      resultBytesMax: RESULT_BYTES_MAX,
      firstListMsMax: FIRST_LIST_MS_MAX,
      listBytesMax: LIST_BYTES_MAX,
      clock,
      logger,
      wait,
    });
  }
}

interface AllowedAddress {
  /** In records and in the lists of tools of tokens. */
  name: string;
  permits: (url: URL) => boolean;
}

function readAllowed(text: string): AllowedAddress {
  const own = new URL(text);
  const { hostname, pathname, protocol } = own;
  const folder = pathname.endsWith("/") ? pathname : `${pathname}/`;
  const isHost = (host: string): boolean =>
    hostname.startsWith("*.")
      ? host.endsWith(hostname.slice(1)) && host.length > hostname.length - 1
      : host === hostname;
  return {
    name: /[.:]/.test(own.host) ? own.host : `${own.host}:${portOf(own)}`,
    permits: (url) =>
      url.protocol === protocol && portOf(url) === portOf(own) && isHost(url.hostname) && isBelow(url.pathname, folder),
  };
}

/** By which a server may leave the folder: some take an escaped slash for one, and ignore what follows a semicolon. */
const LEAVING = /%2f|%5c|\\|\/(?:\.|%2e){1,2}(?:;|%3b)/i;

function isBelow(path: string, folder: string): boolean {
  if (folder === "/") return true;
  return `${path}/`.startsWith(folder) && !LEAVING.test(path);
}

function portOf({ port, protocol }: URL): string {
  if (port !== "") return port;
  return protocol === "https:" ? "443" : "80";
}

/** Requests to a server by the guard of addresses. */
function askThrough(outbound: Pick<Outbound, "fetch">): AskUpstream {
  return ({ method, url, headers, body, signal }) => {
    const isRead = (method === "GET" || method === "DELETE") && body === undefined;
    const isSent = method === "POST" && (typeof body === "string" || body instanceof Uint8Array);
    if (!isRead && !isSent) return Promise.reject(new TypeError("a server of tools gets a body that is whole"));
    const bounds = { timeoutMs: REQUEST_MS_MAX, bytesMax: REQUEST_BYTES_MAX };
    return outbound.fetch({ method, url, headers, signal, ...bounds, ...(isSent && { body }) });
  };
}
