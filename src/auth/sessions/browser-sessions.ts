import { type Clock, GatewayError } from "../../core/index.ts";
import type { Principal } from "../principal.ts";
import type { FoundToken } from "../store.ts";
import { hashOf, parseSecret, secretMatches } from "../token.ts";
import { type BrowserSession, type BrowserSessionStore, SESSION_PREFIX, type SessionFacts } from "./browser-session.ts";
import { cookieIn } from "./cookies.ts";
import { requireOwnOrigin } from "./own-origin.ts";

/** The settings of the configuration in force. */
export interface SessionSettings {
  /** The address for callers. */
  publicUrl: string;
  /** A session ends after this time without a request. */
  idleMs: number;
  /** The names of the sign-ins by OpenID Connect: sessions of others end. */
  signIns: ReadonlySet<string>;
}

interface StoredToken {
  record: FoundToken;
  principal: Principal;
}

export interface BrowserSessionsOptions {
  store: BrowserSessionStore;
  clock: Clock;
  /** How long a session is used without reading it again, in milliseconds. */
  freshMs: number;
  /** A token that may be used. Rejects with its refusal (401). */
  tokenOf: (id: string) => Promise<StoredToken>;
}

/** The least time between two notes of a session's requests. */
const SEEN_MS = 60_000;

/** Where a browser's cookie counts: at the APIs that the console calls. */
const PLACES = /^\/(?:admin\/v1|v1|v2)(?:\/|$)/;

type Parsed = NonNullable<ReturnType<typeof parseSecret>>;

interface Read {
  session: BrowserSession;
  readAt: number;
  /** The principal, as long as the tokens that it was made of are the same. */
  made?: { own: Principal; source: Principal; principal: Principal };
}

/** The sessions of browsers, as callers. Only those that exist are kept. */
export class BrowserSessions {
  settings: SessionSettings | undefined;
  readonly #options: BrowserSessionsOptions;
  readonly #read = new Map<string, Read>();
  #changes = 0;

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /** Each is read again. */
  forget(): void {
    this.#changes += 1;
    this.#read.clear();
  }

  /**
   * The caller by the cookie of a request to this path; undefined without a cookie that counts there. Throws a `GatewayError`: 403 for a
   * page of another origin, 401 for a session that has ended.
   */
  find(request: Request, path: string): Promise<Principal> | undefined {
    const { settings } = this;
    const header = request.headers.get("cookie");
    if (settings === undefined || header === null || !PLACES.test(path)) return undefined;
    const value = cookieIn(header, "session", { asked: new URL(request.url), publicUrl: settings.publicUrl });
    if (value === undefined) return undefined;
    const isSafe = (request.method === "GET" || request.method === "HEAD") && !request.headers.has("upgrade");
    if (!isSafe) requireOwnOrigin(request, settings.publicUrl);
    return this.principalOf(value, settings);
  }

  /** The id of the session of a cookie that still counts, whatever its tokens are; undefined for none. */
  async idOf(request: Request): Promise<string | undefined> {
    const parsed = this.#parsed(request);
    return parsed && (await this.#find(parsed))?.session.id;
  }

  /**
   * Shows later that the browser of this request has had its session, while it sends no cookie of it: it is no secret of the session.
   * Undefined without one.
   */
  proofOf(request: Request): string | undefined {
    const parsed = this.#parsed(request);
    return parsed && `${parsed.id}.${Buffer.from(hashOf(parsed.secret)).toString("base64url")}`;
  }

  /** The id of the session that such a text shows; undefined for none. */
  async idByProof(proof: string): Promise<string | undefined> {
    const [, id, hash] = /^(\w+)\.([\w-]{43})$/.exec(proof) ?? [];
    if (id === undefined || hash === undefined) return undefined;
    return (await this.#options.store.find(id, Buffer.from(hash, "base64url")))?.id;
  }

  #parsed(request: Request): Parsed | undefined {
    const place = { asked: new URL(request.url), publicUrl: this.settings?.publicUrl };
    const value = cookieIn(request.headers.get("cookie"), "session", place);
    return value === undefined ? undefined : parseSecret(SESSION_PREFIX, value);
  }

  async principalOf(value: string, { idleMs, signIns }: SessionSettings): Promise<Principal> {
    const parsed = parseSecret(SESSION_PREFIX, value);
    const read = parsed && (await this.#find(parsed));
    const { clock, tokenOf, store } = this.#options;
    const now = clock();
    if (read === undefined || now >= read.session.expiresAt || now - read.session.seenAt >= idleMs) throw ended();
    const { session } = read;
    if (session.issuer !== undefined && !signIns.has(session.issuer)) throw ended();
    const own = await tokenOf(session.tokenId).catch(signedOut);
    const source = await tokenOf(session.sourceId);
    if (!isSourceOf(session, source.record, now)) throw ended();
    if (now - session.seenAt >= SEEN_MS) {
      session.seenAt = now;
      // Without the note, the session only ends earlier.
      await store.see(session.id, now).catch(() => undefined);
    }
    if (read.made?.own !== own.principal || read.made.source !== source.principal) {
      const principal = sessionPrincipal(session, own.principal, source.principal);
      read.made = { own: own.principal, source: source.principal, principal };
    }
    return read.made.principal;
  }

  async #find({ id, secret }: Parsed): Promise<Read | undefined> {
    const { clock, freshMs, store } = this.#options;
    const kept = this.#read.get(id);
    const isKept = kept !== undefined && secretMatches(secret, kept.session.secretHash);
    const readAt = clock();
    const age = isKept ? readAt - kept.readAt : -1;
    if (isKept && age >= 0 && age < freshMs) return kept;
    const changes = this.#changes;
    let session: BrowserSession | undefined;
    try {
      session = await store.find(id, hashOf(secret));
    } catch (reason) {
      // As of tokens: one that was accepted stays so while the storage is unavailable.
      if (isKept) return kept;
      throw reason;
    }
    if (session === undefined) {
      if (isKept) this.#read.delete(id);
      return undefined;
    }
    const read = { session, readAt, ...(isKept && kept.made && { made: kept.made }) };
    // One that was read before a change but arrives after it is outdated and must not be kept.
    if (changes === this.#changes) this.#keep(id, read);
    return read;
  }

  #keep(id: string, read: Read): void {
    this.#read.delete(id);
    if (this.#read.size >= ENTRIES_MAX) this.#read.delete(this.#read.keys().next().value ?? "");
    this.#read.set(id, read);
  }
}

const ENTRIES_MAX = 10_000;

/** Whether the secret that the session was begun with may still be used. */
function isSourceOf({ sourceHash }: BrowserSession, source: FoundToken, now: number): boolean {
  if (sourceHash === undefined) return true;
  const { secretHash, previousHash, previousUntil = 0 } = source;
  if (Buffer.compare(secretHash, sourceHash) === 0) return true;
  return previousHash !== undefined && now < previousUntil && Buffer.compare(previousHash, sourceHash) === 0;
}

/**
 * The rights and limits are those of the token that the session was begun with. Its account is below that token's: rates are those of
 * the levels above, and budgets count there by themselves.
 */
function sessionPrincipal(
  session: SessionFacts & Partial<Pick<BrowserSession, "role" | "signedUntil">>,
  own: Principal,
  source: Principal,
): Principal {
  const { id, sourceId, issuer, provedAt, createdAt, expiresAt, role = source.role, signedUntil } = session;
  const { rates, ratesAbove = [] } = source;
  const isRated = rates !== undefined || ratesAbove.length > 0;
  return {
    ...source,
    tokenId: own.tokenId,
    accountId: own.accountId,
    role,
    rates: undefined,
    ...(isRated && { ratesAbove: [rates ?? {}, ...ratesAbove] }),
    ...(signedUntil !== undefined && { signedUntil }),
    session: { id, sourceId, issuer, provedAt, createdAt, expiresAt },
  };
}

/** Who presents a client secret that a browser's session has made: without the rights of a session, within the limits of its token. */
export function callerBySecretOf(own: Principal, source: Principal, sourceId: string): Principal {
  const facts = { id: "", sourceId, issuer: undefined, provedAt: undefined, createdAt: 0, expiresAt: 0 };
  return sessionPrincipal({ ...facts, role: "member" }, own, source);
}

function signedOut(reason: unknown): never {
  throw reason instanceof GatewayError && (reason.code === "token_revoked" || reason.code === "token_expired")
    ? ended()
    : reason;
}

function ended(): GatewayError {
  return new GatewayError("signed_out", "The session has ended: sign in again.");
}
