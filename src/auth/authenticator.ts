import { type Clock, GatewayError } from "../core/index.ts";
import { type ClientSecretStore, parseClientSecret, type RealtimeGrant } from "./client-secret.ts";
import { ImportedKeys, type ImportedKeyStore } from "./imported-keys.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import type { BrowserSessionStore } from "./sessions/browser-session.ts";
import { BrowserSessions, callerBySecretOf } from "./sessions/browser-sessions.ts";
import {
  isSigned,
  type SignedRequest,
  type VerifiedCaller,
  VerifiedCallers,
  type VerifySigned,
} from "./signed-callers.ts";
import { type FoundToken, refusalOf, type TokenStore } from "./store.ts";
import { importableIn, type PresentedToken, presentedToken } from "./presented-token.ts";
import { credentialsOf } from "./socket-credentials.ts";
import { hashOf, parseToken, secretMatches } from "./token.ts";

/** A token found in the store. Only real tokens are cached, so that guessed ones can't fill the memory. */
interface Accepted {
  record: FoundToken;
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
  /** Undefined accepts no keys of another gateway. */
  importedKeys?: ImportedKeyStore | undefined;
  /** Undefined accepts no cookies of browsers. */
  sessions?: BrowserSessionStore | undefined;
  clock: Clock;
  /** Registers a callback for possible changes of stored tokens by another process; for one by this process call `forget`. */
  onChange: (forget: () => void) => void;
}

/** The caller of a WebSocket that also accepts client secrets, and subprotocols in place of headers. */
export interface SocketCaller {
  principal: Principal;
  /** The session of the client secret; undefined if the caller has presented a token. */
  grant: RealtimeGrant | undefined;
  /** The subprotocol to answer with, if the client has offered any. */
  protocol: string | undefined;
  /**
   * The caller as it is now, whose limits may have changed. Rejects with a `GatewayError` (401) once the token may no longer be used.
   * An open session survives its secret.
   */
  recheck(): Promise<Principal>;
}

/** The request of a caller. */
export interface PresentingRequest extends SignedRequest {
  /** As the client has asked for it: cookies count at some paths. */
  path?: string;
}

interface IdentifiedCaller {
  principal: Principal;
  /** Of the stored secret that proves the caller; undefined of a token that somebody else has signed. */
  secretHash: Uint8Array | undefined;
  /** Of an imported key, which may end before its token. */
  keyHash?: Uint8Array;
}

/** Authenticates a presented token and returns its principal. */
export class Authenticator {
  readonly #store: TokenStore;
  readonly #clientSecrets: ClientSecretStore;
  readonly #clock: Clock;
  readonly #cache = new Map<string, Accepted>();
  /** The number of reported changes. */
  #changes = 0;
  #signed: VerifiedCallers | undefined;
  readonly #imported: ImportedKeys | undefined;
  /** Of browsers; undefined accepts no cookies. */
  readonly sessions: BrowserSessions | undefined;

  constructor(options: AuthenticatorOptions) {
    const { importedKeys, sessions, clock } = options;
    this.#store = options.store;
    this.#clientSecrets = options.clientSecrets;
    this.#clock = clock;
    this.#imported = importedKeys && new ImportedKeys({ store: importedKeys, clock, freshMs: FRESH_MS });
    const tokenOf = (id: string): Promise<Accepted> => this.#usable(id);
    this.sessions = sessions && new BrowserSessions({ store: sessions, clock, freshMs: FRESH_MS, tokenOf });
    options.onChange(() => this.forget());
  }

  /** Stored tokens may have changed: each is read again. */
  forget(): void {
    this.#changes += 1;
    this.#cache.clear();
    this.#imported?.forget();
    this.sessions?.forget();
  }

  /** Also accepts tokens that these issuers sign; undefined for none. Tokens are verified again. */
  acceptSigned(verify: VerifySigned | undefined): void {
    this.#signed = verify && new VerifiedCallers(verify, this.#clock);
  }

  /** The caller whose token this text is. Rejects with a `GatewayError` (401). */
  async identify(text: string, from: SignedRequest): Promise<IdentifiedCaller> {
    const principal = await this.#authenticateToken({ text, place: "token" }, new Headers(), from);
    const parsed = parseToken(text);
    if (parsed !== undefined) return { principal, secretHash: hashOf(parsed.secret) };
    if (this.#signed !== undefined && isSigned(text)) return { principal, secretHash: undefined };
    const key = await this.#imported?.find(text);
    // It may have ended meanwhile.
    if (key === undefined) throw foreign("token");
    return { principal, secretHash: key.secretHash, keyHash: hashOf(text) };
  }

  /**
   * Reads `Authorization: Bearer tg_…`, `x-api-key: tg_…`, `api-key: tg_…` or `x-litellm-api-key: tg_…`; imported keys have the same
   * places. Throws, or rejects with, a `GatewayError` (401) that names the reason and the header. `offered`: a token in another place of the request. A token that was never issued and a token with a wrong secret get the same error.
   * Without any token, the cookie of a browser's session counts at some paths; without `path`, at none.
   */
  authenticate(
    headers: Headers,
    offered?: PresentedToken,
    from: PresentingRequest = {},
  ): Principal | Promise<Principal> {
    const presented = presentedToken(headers, this.#signed !== undefined, offered);
    if (presented === undefined) {
      const { request, path } = from;
      const caller = request && path !== undefined ? this.sessions?.find(request, path) : undefined;
      if (caller !== undefined) return caller;
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token>, x-api-key: <token>, x-goog-api-key: <token> or api-key: <token>.",
      );
    }
    return this.#authenticateToken(presented, headers, from);
  }

  /**
   * Authenticates the handshake of a WebSocket, for which browsers can send no headers: the token, or a client secret, may
   * also be in a subprotocol. Rejects like `authenticate`.
   */
  async authenticateSocket(request: Request, requestId: string, path?: string): Promise<SocketCaller> {
    const { headers } = request;
    const { secret: offered, protocol } = credentialsOf(headers.get("sec-websocket-protocol"));
    const presented =
      presentedToken(headers, this.#signed !== undefined) ??
      (offered === undefined ? undefined : { text: offered, place: "subprotocol" });
    if (presented === undefined) {
      const session = path === undefined ? undefined : this.sessions?.find(request, path);
      if (session !== undefined) {
        const recheck = async (): Promise<Principal> => (await this.sessions?.find(request, path ?? "")) ?? session;
        return { principal: await session, grant: undefined, protocol, recheck };
      }
      throw new GatewayError(
        "missing_token",
        "No token was sent. Send Authorization: Bearer <token>, or the subprotocols realtime and openai-insecure-api-key.<token>.",
      );
    }
    const secret = parseClientSecret(presented.text);
    if (secret === undefined) {
      const authenticate = async (): Promise<Principal> =>
        this.#authenticateToken(presented, headers, { request, requestId });
      return { principal: await authenticate(), grant: undefined, protocol, recheck: authenticate };
    }
    const found = await this.#clientSecrets.find(secret.id, hashOf(secret.secret));
    if (found === undefined) throw new GatewayError("invalid_token", "The client secret is not valid.");
    const { tokenId, grant, expiresAt } = found;
    if (expiresAt <= this.#clock()) throw new GatewayError("token_expired", "The client secret has expired.");
    const { signedUntil } = grant;
    const findToken = async (): Promise<Principal> => {
      if (signedUntil !== undefined && signedUntil <= this.#clock())
        throw new GatewayError("token_expired", "The token of the client secret's caller has expired.");
      const record = await this.#store.findById(tokenId);
      if (record === undefined) throw new GatewayError("invalid_token", "The client secret's token does not exist.");
      const cached = this.#cache.get(tokenId);
      const principal =
        cached !== undefined && sameRecord(cached.record, record) ? cached.principal : toPrincipal(record);
      const accepted = this.#accept({ record, principal, readAt: this.#clock() });
      const { sessionOf } = record;
      const source = sessionOf === undefined ? undefined : await this.#usable(sessionOf);
      const caller = source ? callerBySecretOf(accepted, source.principal, source.record.id) : accepted;
      return signedUntil === undefined ? caller : { ...caller, signedUntil };
    };
    return { principal: await findToken(), grant, protocol, recheck: findToken };
  }

  /** A token that may be used. Rejects with its refusal. */
  async #usable(id: string): Promise<Accepted> {
    const found = this.#fresh(id) ?? (await this.#find(id));
    if (found === undefined) throw new GatewayError("invalid_token", "The session's token no longer exists.");
    this.#accept(found);
    return found;
  }

  #authenticateToken(presented: PresentedToken, headers: Headers, from: SignedRequest): Principal | Promise<Principal> {
    const { text, place } = presented;
    const parsed = parseToken(text);
    if (parsed === undefined) {
      if (this.#signed !== undefined && isSigned(text)) return this.#authenticateSigned(this.#signed, text, from);
      if (this.#imported === undefined) throw foreign(place);
      return this.#authenticateImported(this.#imported, presented, headers);
    }
    // Most tokens are cached and don't need a promise.
    const fresh = this.#fresh(parsed.id);
    if (fresh !== undefined && isSecretOf(fresh.record, parsed.secret, this.#clock())) return this.#accept(fresh);
    return this.#acceptStored(parsed, place);
  }

  /** A wrong secret takes the same steps as an unknown id: the time of a refusal does not reveal which ids exist. */
  async #acceptStored({ id, secret }: { id: string; secret: string }, place: string): Promise<Principal> {
    const found = await this.#find(id, secret);
    if (found === undefined) throw new GatewayError("invalid_token", `The token in ${place} is not valid.`);
    return this.#accept(found);
  }

  /** A cached key needs no promise. Of several that are presented, the first that exists counts: others may be a provider's. */
  #authenticateImported(
    keys: ImportedKeys,
    presented: PresentedToken,
    headers: Headers,
  ): Principal | Promise<Principal> {
    const offered = importableIn(headers, presented);
    for (const { text } of offered) {
      const key = keys.fresh(text);
      const fresh = key && this.#fresh(key.tokenId);
      if (key !== undefined && fresh !== undefined && isHashOf(fresh.record, key.secretHash, this.#clock()))
        return this.#accept(fresh);
    }
    if (offered.length === 0) throw foreign(presented.place);
    return this.#acceptImported(keys, offered, presented);
  }

  async #acceptImported(
    keys: ImportedKeys,
    offered: readonly PresentedToken[],
    { place }: PresentedToken,
  ): Promise<Principal> {
    for (const { text } of offered) {
      const key = await keys.find(text);
      if (key === undefined) continue;
      const found = await this.#find(key.tokenId);
      if (found !== undefined && isHashOf(found.record, key.secretHash, this.#clock())) return this.#accept(found);
    }
    throw foreign(place);
  }

  #authenticateSigned(callers: VerifiedCallers, text: string, from: SignedRequest): Principal | Promise<Principal> {
    const caller = callers.find(text, from);
    if (caller instanceof Promise) return this.#acceptSigned(callers, caller, text);
    const fresh = this.#fresh(caller.tokenId);
    return fresh === undefined ? this.#acceptSigned(callers, caller, text) : caller.principalOf(this.#accept(fresh));
  }

  async #acceptSigned(
    callers: VerifiedCallers,
    verified: VerifiedCaller | Promise<VerifiedCaller>,
    text: string,
  ): Promise<Principal> {
    const caller = await verified;
    try {
      const found = this.#fresh(caller.tokenId) ?? (await this.#find(caller.tokenId));
      if (found === undefined) throw new GatewayError("invalid_token", "The caller's token no longer exists.");
      return caller.principalOf(this.#accept(found));
    } catch (reason) {
      callers.forget(text);
      throw reason;
    }
  }

  #accept(found: Accepted): Principal {
    const refusal = refusalOf(found.record, this.#clock());
    if (refusal !== undefined) throw refusal;
    return found.principal;
  }

  /** The cached token, unless it is too old, or the clock was set back. */
  #fresh(id: string): Accepted | undefined {
    const cached = this.#cache.get(id);
    if (cached === undefined) return undefined;
    const age = this.#clock() - cached.readAt;
    return age >= 0 && age < FRESH_MS ? cached : undefined;
  }

  /** Without a secret: the token stands for a caller who has proved something else. */
  async #find(id: string, secret?: string): Promise<Accepted | undefined> {
    const changes = this.#changes;
    const readAt = this.#clock();
    const record = await this.#read(id, secret);
    if (record === undefined || (secret !== undefined && !isSecretOf(record, secret, readAt))) return undefined;
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
  async #read(id: string, secret: string | undefined): Promise<FoundToken | undefined> {
    try {
      return secret === undefined ? await this.#store.findById(id) : await this.#store.find(id, hashOf(secret));
    } catch (reason) {
      const record = this.#cache.get(id)?.record;
      if (record === undefined || (secret !== undefined && !isSecretOf(record, secret, this.#clock()))) throw reason;
      return record;
    }
  }
}

/** Most often a provider's key, which a client has found in its environment. */
function foreign(place: string): GatewayError {
  return new GatewayError(
    "invalid_token",
    `What ${place} contains is not valid: tokens of this gateway begin with tg_.`,
  );
}

/** Whether it is the token's secret, or the one before while both may be used. */
function isSecretOf({ secretHash, previousHash, previousUntil = 0 }: FoundToken, secret: string, at: number): boolean {
  if (secretMatches(secret, secretHash)) return true;
  return previousHash !== undefined && at < previousUntil && secretMatches(secret, previousHash);
}

/** The same for a key that ends with the secret that the token had when it was imported. */
function isHashOf({ secretHash, previousHash, previousUntil = 0 }: FoundToken, hash: Uint8Array, at: number): boolean {
  if (Buffer.compare(secretHash, hash) === 0) return true;
  return previousHash !== undefined && at < previousUntil && Buffer.compare(previousHash, hash) === 0;
}

function sameRecord(first: FoundToken, second: FoundToken): boolean {
  return Bun.deepEquals(first, second);
}
