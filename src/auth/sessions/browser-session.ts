import type { Role } from "../../core/index.ts";

/** Somebody who has signed in with a browser. Times are milliseconds since the epoch. */
export interface BrowserSession {
  id: string;
  /** Of the secret in the browser's cookie. */
  secretHash: Uint8Array;
  /** The token that pays for its calls, whose secret nobody has. */
  tokenId: string;
  userId: string;
  /** The token that it was begun with, whose rights and limits it has as of each request. */
  sourceId: string;
  /** Of the secret that was presented: the session ends with it. Undefined of a caller whom an issuer has named. */
  sourceHash: Uint8Array | undefined;
  /** The name of the sign-in by OpenID Connect; undefined of a token or a code. */
  issuer: string | undefined;
  /** By the claims of an issuer, in place of the role of the token. */
  role: Role | undefined;
  /** When the signed token that was presented ends. */
  signedUntil: number | undefined;
  /** When the caller has shown who they are; undefined if an issuer only remembered them. */
  provedAt: number | undefined;
  /** The network address and the user agent of the sign-in. */
  address: string | undefined;
  agent: string | undefined;
  createdAt: number;
  /** Of its last request, to the minute. */
  seenAt: number;
  /** Whatever it does. */
  expiresAt: number;
}

/** The storage of sessions; each engine implements it. */
export interface BrowserSessionStore {
  /** The session with this id and hash; the engine compares both. */
  find(id: string, secretHash: Uint8Array): Promise<BrowserSession | undefined>;
  /** Notes a request of the session. */
  see(id: string, at: number): Promise<void>;
  /** Deletes some of those that had ended by then. */
  deleteEnded(before: number): Promise<void>;
}

/** `ts_<id>_<secret>`, the value of the cookie. */
export const SESSION_PREFIX = "ts_";

/** The session of a caller, for acts that ask more of one than of a token. */
export type SessionFacts = Pick<BrowserSession, "id" | "sourceId" | "issuer" | "provedAt" | "createdAt" | "expiresAt">;
