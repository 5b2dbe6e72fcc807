import type { AcceptedSocket } from "../core/index.ts";
import { createClientSecret, type CreatedClientSecret } from "./handshake/create-client-secret.ts";
import { openSession, type SessionHandshake } from "./handshake/open-session.ts";
import type { RealtimeDependencies } from "./realtime-dependencies.ts";

/** All that can be done with realtime sessions. */
export class RealtimeSessions {
  readonly #deps: RealtimeDependencies;

  constructor(deps: RealtimeDependencies) {
    this.#deps = deps;
  }

  /** Opens a session. Throws a `GatewayError` for what is refused; an upstream's refusal is an answer. */
  async open(handshake: SessionHandshake): Promise<Response | AcceptedSocket> {
    const leave = this.#deps.limit.enter(handshake.caller.principal.tokenId);
    try {
      return await openSession(this.#deps, handshake, leave);
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  createClientSecret(request: Parameters<typeof createClientSecret>[1]): Promise<CreatedClientSecret> {
    return createClientSecret(this.#deps, request);
  }

  /** Deletes client secrets that start no more sessions. */
  deleteExpired(): Promise<void> {
    return this.#deps.clientSecrets.deleteExpired(this.#deps.environment.clock());
  }
}
