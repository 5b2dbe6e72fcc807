import { type Clock, GatewayError } from "../core/index.ts";
import { type ClientSecretStore, parseClientSecret, type RealtimeGrant } from "./client-secret.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import type { TokenRecord, TokenStore } from "./store.ts";
import { credentialsOf } from "./socket-credentials.ts";
import { hashOf, parseToken, secretMatches } from "./token.ts";

/** A token found in the store. Only real tokens are cached, so that guessed ones can't fill the memory. */
interface Accepted {
  record: TokenRecord;
  principal: Principal;
  readAt: number;
}

/**
 * How long a cached token is used without reading it again. Changes are reported immediately, unless the connection
 * that reports them has silently died.
 */
const FRESH_MS = 800;

export interface AuthenticatorOptions {
  store: TokenStore;
  clientSecrets: ClientSecretStore;
  clock: Clock;
  /** Registers a callback for possible changes of stored tokens, by this process or another. */
  onChange: (forget: () => void) => void;
}

/** The caller of a WebSocket that also accepts client secrets, and subprotocols in place of headers. */
export interface SocketCaller {
  principal: Principal;
  /** The session of the client secret; undefined if the caller has presented a token. */
  grant: RealtimeGrant | undefined;
  /** The subprotocol to answer with, if the client has offered any. */
  protocol: string | undefined;
  /** Rejects with a `GatewayError` (401) once the token may no longer be used. An open session survives its secret. */
  recheck(): Promise<void>;
}

/** Authenticates a presented token and returns its principal. */
export class Authenticator {
  readonly #store: TokenStore;
  readonly #clientSecrets: ClientSecretStore;
  readonly #clock: Clock;
  readonly #cache = new Map<string, Accepted>();
  /** The number of reported changes. */
  #changes = 0;

  constructor(options: AuthenticatorOptions) {
    this.#store = options.store;
    this.#clientSecrets = options.clientSecrets;
    this.#clock = options.clock;
    options.onChange(() => {
      this.#changes += 1;
      this.#cache.clear();
    });
  }

  /**
   * Reads `Authorization: Bearer tg_…` or `x-api-key: tg_…`. Throws, or rejects with, a `GatewayError` (401) that names
   * the reason. A token that was never issued and a token with a wrong secret get the same error.
   */
  authenticate(headers: Headers): Principal | Promise<Principal> {
    const presented = presentedToken(headers);
    if (presented === undefined) {
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token> or x-api-key: <token>.",
      );
    }
    return this.#authenticateToken(presented);
  }

  /**
   * Authenticates the handshake of a WebSocket, for which browsers can send no headers: the token, or a client secret, may
   * also be in a subprotocol. Rejects like `authenticate`.
   */
  async authenticateSocket(headers: Headers): Promise<SocketCaller> {
    const { secret: offered, protocol } = credentialsOf(headers.get("sec-websocket-protocol"));
    const presented = presentedToken(headers) ?? offered;
    if (presented === undefined) {
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token>, or the subprotocols realtime and openai-insecure-api-key.<token>.",
      );
    }
    const secret = parseClientSecret(presented);
    if (secret === undefined) {
      const authenticate = async (): Promise<Principal> => this.#authenticateToken(presented);
      const recheck = async (): Promise<void> => void (await authenticate());
      return { principal: await authenticate(), grant: undefined, protocol, recheck };
    }
    const found = await this.#clientSecrets.find(secret.id, hashOf(secret.secret));
    if (found === undefined) throw new GatewayError("invalid_token", "The client secret is not valid.");
    const { tokenId, grant, expiresAt } = found;
    if (expiresAt <= this.#clock()) throw new GatewayError("token_expired", "The client secret has expired.");
    const findToken = async (): Promise<Principal> => {
      const record = await this.#store.findById(tokenId);
      if (record === undefined) throw new GatewayError("invalid_token", "The client secret's token does not exist.");
      const cached = this.#cache.get(tokenId);
      const principal =
        cached !== undefined && sameRecord(cached.record, record) ? cached.principal : toPrincipal(record);
      return this.#accept({ record, principal, readAt: this.#clock() });
    };
    return { principal: await findToken(), grant, protocol, recheck: async () => void (await findToken()) };
  }

  #authenticateToken(presented: string): Principal | Promise<Principal> {
    const parsed = parseToken(presented);
    if (parsed === undefined) throw invalid();
    // Most tokens are cached and don't need a promise.
    const fresh = this.#fresh(parsed.id);
    if (fresh !== undefined && secretMatches(parsed.secret, fresh.record.secretHash)) return this.#accept(fresh);
    return this.#acceptStored(parsed.id, parsed.secret);
  }

  /** A wrong secret takes the same steps as an unknown id: the time of a refusal does not reveal which ids exist. */
  async #acceptStored(id: string, secret: string): Promise<Principal> {
    const found = await this.#find(id, secret);
    if (found === undefined) throw invalid();
    return this.#accept(found);
  }

  #accept(found: Accepted): Principal {
    if (found.record.revokedAt !== undefined) throw new GatewayError("token_revoked", "The token has been revoked.");
    if (found.record.expiresAt !== undefined && found.record.expiresAt <= this.#clock()) {
      throw new GatewayError("token_expired", "The token has expired.");
    }
    return found.principal;
  }

  /** The cached token, unless it is too old, or the clock was set back. */
  #fresh(id: string): Accepted | undefined {
    const cached = this.#cache.get(id);
    if (cached === undefined) return undefined;
    const age = this.#clock() - cached.readAt;
    return age >= 0 && age < FRESH_MS ? cached : undefined;
  }

  async #find(id: string, secret: string): Promise<Accepted | undefined> {
    const changes = this.#changes;
    const readAt = this.#clock();
    const record = await this.#read(id, secret);
    if (record === undefined) return undefined;
    const cached = this.#cache.get(id);
    // While nothing changes, the principal stays the same object, so that data derived from it can be cached.
    const principal =
      cached !== undefined && sameRecord(cached.record, record) ? cached.principal : toPrincipal(record);
    const accepted = { record, principal, readAt };
    // A record that was read before a change but arrives after it is outdated and must not be cached.
    if (changes === this.#changes) this.#cache.set(id, accepted);
    return accepted;
  }

  /**
   * While the storage is unavailable, cached tokens remain valid; the ledger then refuses everything that costs money.
   */
  async #read(id: string, secret: string): Promise<TokenRecord | undefined> {
    try {
      return await this.#store.find(id, hashOf(secret));
    } catch (reason) {
      const record = this.#cache.get(id)?.record;
      if (record === undefined || !secretMatches(secret, record.secretHash)) throw reason;
      return record;
    }
  }
}

function invalid(): GatewayError {
  return new GatewayError("invalid_token", "The token is not valid.");
}

function sameRecord(first: TokenRecord, second: TokenRecord): boolean {
  return Bun.deepEquals(first, second);
}

const oneBearer = /^Bearer\s+\S+\s*$/i;

/** Anthropic's older SDKs send `x-api-key`. If both headers are present it takes precedence, as at Anthropic. */
function presentedToken(headers: Headers): string | undefined {
  const key = headers.get("x-api-key");
  if (key !== null && key !== "") return key.trim();
  const authorization = headers.get("authorization") ?? "";
  return oneBearer.test(authorization) ? authorization.slice("Bearer ".length).trim() : undefined;
}
