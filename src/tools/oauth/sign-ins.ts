/** Sign-ins at the authorization servers of servers of tools: each is ended by the browser that has begun it, once. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Clock, GatewayError, type RandomBytes } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { ToolConnection } from "../connections/connection.ts";
import type { ConnectingOptions, Connections } from "../connections/connections.ts";
import { type SignInAttempt, storedAttempt, storedGrant } from "./grant.ts";
import type { OAuthServer } from "./oauth-server.ts";

/** How long a browser may stay at the authorization server. */
const BEGUN_MS = 600_000;

const BROWSER_BYTES = 32;

interface SignInsOptions {
  connections: Connections;
  servers: ReadonlyMap<string, OAuthServer>;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Pick<Logger, "warn">;
}

/** Whether the holder of the token with this id may still connect the account; `check` runs within the act, and throws if not. */
export type PermitConnection = (connection: ToolConnection, tokenId: string) => Required<PermittedAct>;

type PermittedAct = Pick<ConnectingOptions, "actor" | "check">;

export class ConnectionSignIns {
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /**
   * The page of the authorization server, and the secret of the cookie that the browser needs to come back with. `tokenId`: the token
   * with which its owner has shown that the connection is theirs. Rejects with a `GatewayError`.
   */
  async begin(connection: ToolConnection, tokenId: string): Promise<{ url: string; browser: string }> {
    const { connections, clock, randomBytes } = this.#options;
    const { url, state, begun } = await this.#serverOf(connection).begin(this.#wantedBy(connection));
    const browser = Buffer.from(randomBytes(BROWSER_BYTES)).toString("base64url");
    const attempt: SignInAttempt = { ...begun, tokenId, browser: hashOf(browser).toString("hex") };
    const stateHash = hashOf(state);
    await connections.store.authorizations.insert({
      stateHash,
      connectionId: connection.id,
      sealed: connections.seal(JSON.stringify(attempt), boundTo(stateHash)),
      expiresAt: clock() + BEGUN_MS,
    });
    return { url, browser };
  }

  /**
   * Connects the account with which the browser has come back. Rejects with a `GatewayError`: 401 for an answer that does not belong to a
   * sign-in of this browser, or that is not accepted. Minutes may have passed since the sign-in began: its owner must still have
   * the rights that it needs.
   */
  async finish(query: string, browser: string | undefined, permit: PermitConnection): Promise<ToolConnection> {
    const { connections, clock } = this.#options;
    const state = new URLSearchParams(query).get("state") ?? "";
    const stateHash = hashOf(state);
    const { authorizations } = connections.store;
    const found = await authorizations.find(stateHash);
    if (found === undefined || found.expiresAt <= clock() || browser === undefined) throw notBegun();
    const { data: attempt } = storedAttempt.safeParse(JSON.parse(connections.unseal(found.sealed, boundTo(stateHash))));
    // That of another version of the gateway.
    if (attempt === undefined) throw notBegun();
    if (!timingSafeEqual(hashOf(browser), Buffer.from(attempt.browser, "hex"))) throw notBegun();
    if (!(await authorizations.take(stateHash))) throw notBegun();
    const connection = await connections.store.find(found.connectionId);
    if (connection === undefined) throw notBegun();
    const act = permit(connection, attempt.tokenId);
    await connections.permit(act);
    const server = this.#serverOf(connection);
    const grant = await server.finish(query, state, attempt);
    try {
      return await connections.complete(connection, JSON.stringify(grant), act);
    } catch (thrown) {
      await this.#revokeGrant(connection, () => server.revoke(grant));
      throw thrown;
    }
  }

  /** Lets the authorization server forget the tokens of a deleted connection. A failure is in the log. */
  async revoke(connection: ToolConnection): Promise<void> {
    const { connections, servers } = this.#options;
    const server = servers.get(connection.server);
    if (server === undefined || connection.sealed === undefined) return;
    await this.#revokeGrant(connection, () =>
      server.revoke(storedGrant.parse(JSON.parse(connections.credentialsOf(connection)))),
    );
  }

  async #revokeGrant(connection: ToolConnection, revoke: () => Promise<void>): Promise<void> {
    try {
      await revoke();
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.name : "";
      this.#options.logger.warn(
        { server: connection.server, connection: connection.id, reason },
        "tokens could not be revoked",
      );
    }
  }

  #serverOf({ server: name }: ToolConnection): OAuthServer {
    const server = this.#options.servers.get(name);
    if (server === undefined) throw new GatewayError("object_not_found", "The server is no longer configured.");
    return server;
  }

  /** Scopes that the server has asked for since the last sign-in, beside those that it has given. */
  #wantedBy(connection: ToolConnection): string | undefined {
    if (connection.sealed === undefined) return undefined;
    try {
      return storedGrant.parse(JSON.parse(this.#options.connections.credentialsOf(connection))).wanted;
    } catch {
      // ServerCredentials that do not open are replaced.
      return undefined;
    }
  }
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function boundTo(stateHash: Uint8Array): string {
  return `authorization/${Buffer.from(stateHash).toString("hex")}`;
}

function notBegun(): GatewayError {
  return new GatewayError("invalid_token", "This browser has not begun this sign-in, or too long ago: begin again.");
}
