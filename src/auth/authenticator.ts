import { type Clock, GatewayError } from "../core/index.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import type { TokenRecord, TokenStore } from "./store.ts";
import { parseToken, secretMatches } from "./token.ts";

/** Found tokens are kept in memory; only real ones, so that guesses can't grow it beyond the tokens there are. */
interface Accepted {
  record: TokenRecord;
  principal: Principal;
  readAt: number;
}

/**
 * How long a token is taken for what it was when it was read. Changes are told at once, unless the connection that tells
 * them has died without a word.
 */
const FRESH_MS = 800;

export interface AuthenticatorOptions {
  store: TokenStore;
  clock: Clock;
  /** Calls back when stored tokens may have changed, whichever process changed them. */
  onChange: (forget: () => void) => void;
}

/** Turns a presented token into a principal. */
export class Authenticator {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #cache = new Map<string, Accepted>();
  /** How often tokens may have changed. */
  #changes = 0;

  constructor(options: AuthenticatorOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    options.onChange(() => {
      this.#changes += 1;
      this.#cache.clear();
    });
  }

  /**
   * Reads `Authorization: Bearer tg_…` or `x-api-key: tg_…`. Throws, or rejects with, a 401 `GatewayError` that says which
   * of the reasons it is; a token that was never issued and one with a wrong secret are told apart by nobody.
   */
  authenticate(headers: Headers): Principal | Promise<Principal> {
    const presented = presentedToken(headers);
    if (presented === undefined) {
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token> or x-api-key: <token>.",
      );
    }
    const parsed = parseToken(presented);
    if (parsed === undefined) throw invalid();
    // Most are in memory, and need no promise.
    const fresh = this.#fresh(parsed.id);
    if (fresh !== undefined) return this.#accept(parsed.secret, fresh);
    return this.#acceptStored(parsed.id, parsed.secret);
  }

  async #acceptStored(id: string, secret: string): Promise<Principal> {
    return this.#accept(secret, await this.#find(id));
  }

  #accept(secret: string, found: Accepted | undefined): Principal {
    if (found === undefined || !secretMatches(secret, found.record.secretHash)) throw invalid();
    if (found.record.revokedAt !== undefined) throw new GatewayError("token_revoked", "The token has been revoked.");
    if (found.record.expiresAt !== undefined && found.record.expiresAt <= this.#clock()) {
      throw new GatewayError("token_expired", "The token has expired.");
    }
    return found.principal;
  }

  /** A clock that went back makes nothing fresh. */
  #fresh(id: string): Accepted | undefined {
    const known = this.#cache.get(id);
    if (known === undefined) return undefined;
    const age = this.#clock() - known.readAt;
    return age >= 0 && age < FRESH_MS ? known : undefined;
  }

  async #find(id: string): Promise<Accepted | undefined> {
    const changes = this.#changes;
    const readAt = this.#clock();
    const record = await this.#read(id);
    if (record === undefined) return undefined;
    const known = this.#cache.get(id);
    // The same object for as long as nothing changes: what is made of it once is kept.
    const principal = known !== undefined && sameRecord(known.record, record) ? known.principal : toPrincipal(record);
    const accepted = { record, principal, readAt };
    // What was read before a change, and comes after it, would stay for good.
    if (changes === this.#changes) this.#cache.set(id, accepted);
    return accepted;
  }

  /** While the storage is away a token stays what it was; what costs money is refused by the ledger then. */
  async #read(id: string): Promise<TokenRecord | undefined> {
    try {
      return await this.#store.find(id);
    } catch (reason) {
      const known = this.#cache.get(id);
      if (known === undefined) throw reason;
      return known.record;
    }
  }
}

function invalid(): GatewayError {
  return new GatewayError("invalid_token", "The token is not valid.");
}

function sameRecord(one: TokenRecord, other: TokenRecord): boolean {
  return Bun.deepEquals(one, other);
}

const oneBearer = /^Bearer\s+\S+\s*$/i;

/** `x-api-key` is what Anthropic's older SDKs send; where both are there it wins, as at Anthropic. */
function presentedToken(headers: Headers): string | undefined {
  const key = headers.get("x-api-key");
  if (key !== null && key !== "") return key.trim();
  const authorization = headers.get("authorization") ?? "";
  return oneBearer.test(authorization) ? authorization.slice("Bearer ".length).trim() : undefined;
}
