/** Settings that clients of 2025 have made for their sessions, and whether they have ended them. Any node may get the next request. */
import type { LogLevel } from "./log-levels.ts";

export interface SessionState {
  /** The lowest level of log messages that the client wants; undefined if it has set none. */
  level: LogLevel | undefined;
  /** The resources whose updates it wants. */
  resources: readonly SubscribedResource[];
  isEnded: boolean;
}

interface SubscribedResource {
  /** The server or set whose URL it was named at. */
  door: string;
  uri: string;
}

export const freshState: SessionState = { level: undefined, resources: [], isEnded: false };

export interface SessionStates {
  /** Undefined unless this process has heard of it. */
  known(session: string): SessionState | undefined;
  /** That of a session without any is the fresh one. */
  of(session: string): Promise<SessionState>;
  /** Resolves once the change is stored. */
  change(session: string, owner: string, change: (state: SessionState) => SessionState): Promise<void>;
  /** A new one: nothing is stored for it. */
  begin(session: string): void;
  /** Resolves once every process learns that the session has ended. */
  end(session: string, owner: string): Promise<void>;
  /** Calls back with each session that its client has ended, here or at another process. */
  onEnd(callback: (session: string) => void): void;
  /** Calls back when a session may have changed. Returns a function that ends that. */
  watch(session: string, onChange: () => void): () => void;
}
