import { type AcceptedSocket, GatewayError } from "../core/index.ts";
import { createClientSecret, type CreatedClientSecret } from "./create-client-secret.ts";
import { openSession, type SessionHandshake } from "./open-session.ts";
import type { RealtimeDependencies } from "./realtime-dependencies.ts";

/** All that can be done with realtime sessions. */
export class RealtimeSessions {
  readonly #deps: RealtimeDependencies;
  /** Open sessions, and those being opened, by the id of their token. */
  readonly #ofToken = new Map<string, number>();

  constructor(deps: RealtimeDependencies) {
    this.#deps = deps;
  }

  /** Opens a session. Throws a `GatewayError` for what is refused; an upstream's refusal is an answer. */
  async open(call: SessionHandshake): Promise<Response | AcceptedSocket> {
    const { tokenId } = call.caller.principal;
    const { perTokenMax } = this.#deps.bounds;
    const open = this.#ofToken.get(tokenId) ?? 0;
    if (open >= perTokenMax) {
      throw new GatewayError("rate_limit_exceeded", `The token has ${perTokenMax} open sessions, which is the most.`);
    }
    this.#ofToken.set(tokenId, open + 1);
    let isOpen = true;
    const leave = (): void => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#ofToken.get(tokenId) ?? 1) - 1;
      if (left > 0) this.#ofToken.set(tokenId, left);
      else this.#ofToken.delete(tokenId);
    };
    try {
      return await openSession(this.#deps, call, leave);
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
