import type { ClientSecretStore, Principal, SessionLimit } from "../auth/index.ts";
import type { WorkDependencies } from "../charges/index.ts";
import type { Environment, JsonObject } from "../core/index.ts";
import type { RealtimeApi, SessionType } from "../providers/index.ts";
import type { BusyTargets, Circuits, ModelRouter, RouteLimits, Target } from "../routing/index.ts";
import type { SendDependencies } from "../sending/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { OpenSessions } from "./open/index.ts";

/** Bounds of sessions, in milliseconds unless stated otherwise. */
interface SessionBounds {
  sessionMsMax: number;
  /** Without a message in either direction. */
  idleMsMax: number;
  /** How long a client may not read. */
  stalledMsMax: number;
  messagesPerSecondMax: number;
  /** How long the upstream's handshake may take. */
  connectMsMax: number;
}

export interface RealtimeDependencies {
  environment: Environment;
  work: WorkDependencies;
  send: SendDependencies["send"];
  observer: SendDependencies["observer"];
  ticker: Ticker;
  router: ModelRouter;
  /** Undefined if targets that fail are asked like all others. */
  circuits: Circuits | undefined;
  busy: BusyTargets;
  /** Of sessions without a route of their own. */
  routeLimits: RouteLimits;
  clientSecrets: ClientSecretStore;
  bounds: SessionBounds;
  /** Open sessions by token. */
  limit: SessionLimit;
  /** The same for operators, who see and end them. */
  openSessions: Pick<OpenSessions, "enter">;
}

/** A session before it is open. */
export interface SessionStart {
  /** The id of its handshake, the parent of all its generations. */
  id: string;
  type: SessionType;
  principal: Principal;
  target: Target;
  api: RealtimeApi;
  /** The first session.update of the upstream: the session of a client secret, in OpenAI's terms. */
  session: JsonObject | undefined;
  /** The client's own session, as a header of the handshake names it. */
  clientSession: string | undefined;
  /** The caller's own user, as the handshake's headers name it. */
  endUser?: string | undefined;
  /** The tags of its works. */
  tags?: Readonly<Record<string, string>> | undefined;
}
