import { type Clock, GatewayError } from "../core/index.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import type { TokenRecord, TokenStore } from "./store.ts";
import { parseToken, secretMatches } from "./token.ts";

/** Found tokens are kept in memory; only real ones, so that guesses can't grow it beyond the tokens there are. */
interface Accepted {
  record: TokenRecord;
  principal: Principal;
}

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
   * Reads `Authorization: Bearer tg_…` or `x-api-key: tg_…`. Throws a 401 `GatewayError` that says which of the reasons
   * it is; a token that was never issued and one with a wrong secret are told apart by nobody.
   */
  async authenticate(headers: Headers): Promise<Principal> {
    const presented = presentedToken(headers);
    if (presented === undefined) {
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token> or x-api-key: <token>.",
      );
    }
    const parsed = parseToken(presented);
    const found = parsed === undefined ? undefined : (this.#cache.get(parsed.id) ?? (await this.#find(parsed.id)));
    if (parsed === undefined || found === undefined || !secretMatches(parsed.secret, found.record.secretHash)) {
      throw new GatewayError("invalid_token", "The token is not valid.");
    }
    if (found.record.revokedAt !== undefined) throw new GatewayError("token_revoked", "The token has been revoked.");
    if (found.record.expiresAt !== undefined && found.record.expiresAt <= this.#clock()) {
      throw new GatewayError("token_expired", "The token has expired.");
    }
    return found.principal;
  }

  async #find(id: string): Promise<Accepted | undefined> {
    const changes = this.#changes;
    const record = await this.#store.find(id);
    if (record === undefined) return undefined;
    const accepted = { record, principal: toPrincipal(record) };
    // What was read before a change, and comes after it, would stay for good.
    if (changes === this.#changes) this.#cache.set(id, accepted);
    return accepted;
  }
}

/** `x-api-key` is what Anthropic's older SDKs send; where both are there it wins, as at Anthropic. */
function presentedToken(headers: Headers): string | undefined {
  const key = headers.get("x-api-key");
  if (key !== null && key !== "") return key.trim();
  const [, bearer] = /^Bearer\s+(\S+)\s*$/i.exec(headers.get("authorization") ?? "") ?? [];
  return bearer;
}
