import type { SignInRequest } from "../../accounts/index.ts";
import type { Authenticator, BrowserSessionStore } from "../../auth/index.ts";
import type { Role } from "../../core/index.ts";
import type { SignInAttempts } from "./attempts.ts";

/** Kept by a browser while it is at an OpenID Provider. */
export interface BegunSignIn {
  state: string;
  nonce: string;
  verifier: string;
  isFresh: boolean;
}

/** Who comes back from a provider. */
interface SignedInPerson extends Pick<SignInRequest, "issuer" | "subject" | "newUser"> {
  role: Role;
  provedAt: number | undefined;
}

/** A sign-in by OpenID Connect. All reject with a `GatewayError`: 401 for an answer that is not accepted, 503 without the provider. */
export interface SignInIssuer {
  begin(how: { isFresh: boolean }): Promise<{ url: string; begun: BegunSignIn }>;
  /** `query`: of the address at which the browser has come back. */
  finish(query: string, begun: BegunSignIn): Promise<SignedInPerson>;
  /** Where the browser signs out at the provider. */
  signOutUrl(): Promise<string | undefined>;
}

/** The parts that sign-ins of browsers need. */
export interface SignInServices {
  /** The address for callers. */
  publicUrl: string;
  authenticator: Pick<Authenticator, "identify" | "sessions">;
  attempts: SignInAttempts;
  store: Pick<BrowserSessionStore, "deleteEnded">;
  /** A session ends after this time without a request, and after that time whatever it does. */
  idleMs: number;
  msMax: number;
  /** Whether codes sign in. */
  isSandbox: boolean;
  /** Sign-ins by OpenID Connect, by their names. */
  issuers: ReadonlyMap<string, SignInIssuer>;
}
