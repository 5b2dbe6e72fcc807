import { type AskUpstream, type Clock, limits, type UpstreamRequest } from "../core/index.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { connect, type ConnectionOwner } from "./connection.ts";
import { type Dial, HttpExchange, type WholeRequest } from "./exchange.ts";
import { proxyRule, type ProxyVariables } from "./proxies.ts";
import { RequestTargets } from "./request-head.ts";

export interface UpstreamClientOptions {
  /** Sends requests that this client does not support: bodies that are not in memory, and upstreams behind a proxy. */
  fallback: AskUpstream;
  clock: Clock;
  /** The environment variables that define proxies. */
  variables: ProxyVariables;
  /** Certificates in PEM that are trusted instead of the well-known ones. */
  trusted?: string;
  idleConnectionsMax?: number;
  idleMsMax?: number;
}

/** HTTP/1.1 over plain sockets and TLS, for calls to upstreams; costs a fraction of fetch. */
export class UpstreamClient {
  readonly #fallback: AskUpstream;
  readonly #trusted: string | undefined;
  readonly #targets: RequestTargets;
  readonly #pool: ConnectionPool;
  readonly #dial: Dial;

  constructor({ fallback, clock, variables, trusted, idleConnectionsMax, idleMsMax }: UpstreamClientOptions) {
    this.#fallback = fallback;
    this.#trusted = trusted;
    this.#targets = new RequestTargets(proxyRule(variables));
    this.#pool = new ConnectionPool({
      clock,
      connectionsMax: idleConnectionsMax ?? limits.idleConnectionsMax,
      idleMsMax: idleMsMax ?? limits.idleConnectionMsMax,
    });
    this.#dial = (exchange) => {
      const { target, address } = exchange;
      const owner = address === undefined ? this.#pool : usedOnce;
      const connection = connect(target, owner, exchange, { trusted: this.#trusted, address });
      if (exchange.connectMsMax !== undefined) connection.limitConnecting(exchange.connectMsMax);
      return connection;
    };
  }

  /**
   * Implements `AskUpstream`. A request to an idle connection which turns out to be closed is sent again, once, on a new
   * one, if it is a GET or the connection took nothing of it; all other retries are up to the caller. Rejects with a
   * TypeError for an invalid request.
   */
  readonly ask: AskUpstream = (request) => {
    const { signal, url } = request;
    if (signal.aborted) return Promise.reject(signal.reason);
    try {
      const target = this.#targets.find(url);
      const isPinned = request.address !== undefined;
      if ((target.isProxied && !isPinned) || !isWhole(request)) return this.#fallback(request);
      const exchange = new HttpExchange(request, target, this.#dial);
      return exchange.start(isPinned ? undefined : this.#pool.take(target.origin));
    } catch (cause) {
      return Promise.reject(cause);
    }
  };

  /** Closes idle connections. Running calls continue; their connections are closed at their end. */
  close(): void {
    this.#pool.close();
  }
}

/** Keeps no connection to a given address: another request to the same host may need another address. */
const usedOnce: ConnectionOwner = {
  release: (connection) => connection.close(),
  forget: () => undefined,
};

function isWhole(request: UpstreamRequest): request is WholeRequest {
  const { body } = request;
  return body === undefined || typeof body === "string" || body instanceof Uint8Array || Array.isArray(body);
}
