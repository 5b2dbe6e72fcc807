import type { Authenticator, BrowserSessionStore } from "../../auth/index.ts";
import type { SignInAttempts } from "./attempts.ts";

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
}
