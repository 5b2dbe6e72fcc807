import { type AskUpstream, type Clock, limits, type UpstreamRequest } from "../core/index.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { connect } from "./connection.ts";
import { type Dial, HttpExchange, type WholeRequest } from "./exchange.ts";
import { proxyRule, type ProxyVariables } from "./proxies.ts";
import { RequestTargets } from "./targets.ts";

export interface UpstreamClientOptions {
  /** Asks where this client does not: bodies that are no piece of memory, and upstreams behind a proxy. */
  fallback: AskUpstream;
  clock: Clock;
  /** Of the environment, those that name proxies. */
  variables: ProxyVariables;
  /** Certificates in PEM that are trusted instead of those that are well known. */
  trusted?: string;
  idleConnectionsMax?: number;
  idleMsMax?: number;
}

/** HTTP/1.1 on plain sockets and TLS, for calls to upstreams: a fraction of what fetch costs. */
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
    this.#dial = (exchange) => connect(exchange.target, this.#pool, exchange, this.#trusted);
  }

  /**
   * As `AskUpstream` says. A request that was written to a kept connection which turns out to be closed is sent again,
   * once, on a fresh one; anything else is the caller's to try again. Rejects with a TypeError for what can't be sent.
   */
  readonly ask: AskUpstream = (request) => {
    const { signal, url } = request;
    if (signal.aborted) return Promise.reject(signal.reason);
    try {
      const target = this.#targets.find(url);
      if (target.isProxied || !isWhole(request)) return this.#fallback(request);
      const exchange = new HttpExchange(request, target, this.#dial);
      return exchange.start(this.#pool.take(target.origin));
    } catch (cause) {
      return Promise.reject(cause);
    }
  };

  /** Closes idle connections. Calls that are under way go on; their connections are closed at their end. */
  close(): void {
    this.#pool.close();
  }
}

function isWhole(request: UpstreamRequest): request is WholeRequest {
  const { body } = request;
  return body === undefined || typeof body === "string" || body instanceof Uint8Array || Array.isArray(body);
}
