/**
 * The only way of the browser to a network: an HTTP proxy on loopback that applies the guard to every request, whatever in a
 * page asks for it. It runs in the browser's child process, so that the bytes of pages pass the gateway's thread by.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { RandomBytes } from "../../core/index.ts";
import type { AddressGuard } from "../../outbound/index.ts";
import { ProxyConnection } from "./proxy-connection.ts";
import { type PassBounds, ProxyPass } from "./proxy-pass.ts";

/** Connections of all scrapes together. */
const CONNECTIONS_MAX = 1_024;

const SECRET_BYTES = 32;

export interface GuardedProxyOptions {
  guard: AddressGuard;
  randomBytes: RandomBytes;
}

export interface Credentials {
  username: string;
  password: string;
}

export class GuardedProxy {
  readonly #options: GuardedProxyOptions;
  readonly #passes = new Map<string, ProxyPass>();
  readonly #server: Server;
  #port = 0;

  constructor(options: GuardedProxyOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Resolves with the address for the browser. */
  async listen(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen({ host: "127.0.0.1", port: 0 }, resolve);
    await promise;
    const address = this.#server.address();
    this.#port = typeof address === "object" && address !== null ? address.port : 0;
    return `http://127.0.0.1:${this.#port}`;
  }

  /** A pass and its credentials, which no other process of the machine can guess. The pass must be ended. */
  issue(bounds: PassBounds, isUnwanted: (host: string) => boolean): { pass: ProxyPass; credentials: Credentials } {
    const username = "scrape";
    const password = Buffer.from(this.#options.randomBytes(SECRET_BYTES)).toString("base64url");
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const onEnd = (): void => void this.#passes.delete(authorization);
    const pass = new ProxyPass({ authorization, bounds, isUnwanted, onEnd });
    this.#passes.set(authorization, pass);
    return { pass, credentials: { username, password } };
  }

  close(): void {
    this.#server.close();
    for (const pass of this.#passes.values()) pass.end();
  }

  #accept(socket: Socket): void {
    const { guard } = this.#options;
    const passOf = (authorization = ""): ProxyPass | undefined => this.#passes.get(authorization);
    void new ProxyConnection(socket, { guard, ownPort: this.#port, passOf });
  }
}
