/** Opens a session at an upstream: with as many attempts as make sense, and the provider's keys in turn. */
import { HandshakeRefused, type ReplyHeaders, type UpstreamSocket } from "../core/index.ts";
import type { Environment } from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import { Attempts } from "./attempts.ts";
import { classifyFailure, type FailureClass, refusedByAll, unreachableUpstream } from "./classify-failure.ts";
import { sessionHeaders } from "./headers.ts";
import { keptFromClient, keyRefused } from "./kept-from-client.ts";
import type { FailedAttempt } from "./repeat-rule.ts";
import { reportAttempt, type SendDependencies, unreachable } from "./send.ts";

interface ConnectDependencies extends Pick<SendDependencies, "send" | "observer"> {
  environment: Pick<Environment, "clock" | "randomFraction" | "openSocket">;
}

interface SessionRequest {
  /** The id of the session. */
  workId: string;
  target: Target;
  /** Without the question mark. */
  query: string;
  clientHeaders: Headers;
  /** How long the handshake may take, in milliseconds. */
  openMsMax: number;
  /** Whether another target is left: this one is asked again only with another key. Absent for a session with one target. */
  hasNext?: boolean | undefined;
  /** Called when an attempt begins. */
  onAttempt?: (() => void) | undefined;
  /** Called when the last attempt has failed. */
  onFailure?: ((failed: FailedAttempt) => void) | undefined;
}

/** The upstream has refused the session with this status. */
export interface RefusedSession {
  kind: "refused";
  status: number;
}

export interface OpenedSession {
  kind: "opened";
  socket: UpstreamSocket;
}

/** A refused handshake has a status only: Bun's client reads neither its headers nor its body. */
const noHeaders: ReplyHeaders = { get: () => null };

/**
 * Throws `upstream_unreachable` without an answer, `upstream_invalid_answer` for a redirection, and `provider_key_refused` if
 * the upstream refuses all keys.
 */
export async function connectUpstream(
  deps: ConnectDependencies,
  request: SessionRequest,
): Promise<OpenedSession | RefusedSession> {
  const { environment, send } = deps;
  const { target, query, openMsMax, hasNext } = request;
  const { route, operation } = target;
  // A session that was not opened has made nothing.
  const attempts = new Attempts({ target, repeats: "freely", hasNext }, send, environment.randomFraction);
  const url = `${route.baseUrl.replace(/^http/, "ws")}${operation.path}?${query}`;
  for (;;) {
    const attempt = attempts.begin();
    if (attempt === undefined) {
      request.onFailure?.({ failure: refusedByAll, status: undefined, isSent: false });
      throw keyRefused(route.prefix);
    }
    const { key } = attempt;
    const headers = sessionHeaders({ target, clientHeaders: request.clientHeaders }, key);
    const begunAt = performance.now();
    request.onAttempt?.();
    try {
      const socket = await environment.openSocket({ url, headers, openMsMax });
      if (route.keys.learns) route.keys.noteAnswer(key, undefined, operation.path);
      reportAttempt(deps, request, attempt, { begunAt, status: 101, failure: undefined });
      return { kind: "opened", socket };
    } catch (cause) {
      const status = cause instanceof HandshakeRefused ? cause.status : undefined;
      const failure = failureOf(target, status, environment.clock());
      route.keys.note(key, failure, operation.path);
      const failed = { failure, status, isSent: false };
      const waitMs = attempts.waitAfter(attempt, failed);
      reportAttempt(deps, request, attempt, { begunAt, status, failure, waitMs });
      if (waitMs === undefined) {
        request.onFailure?.(failed);
        return refusedSession(target, { status, failure, cause });
      }
      await Bun.sleep(waitMs);
    }
  }
}

/** The last refusal, if it is relayed; otherwise throws the error in its place. */
function refusedSession(
  target: Target,
  { status, failure, cause }: { status: number | undefined; failure: FailureClass; cause: unknown },
): RefusedSession {
  if (status === undefined) throw unreachable(target, cause);
  const kept = keptFromClient(target.route.prefix, { status, failure });
  if (kept !== undefined) throw kept;
  return { kind: "refused", status };
}

function failureOf({ route }: Target, status: number | undefined, now: number): FailureClass {
  if (status === undefined) return unreachableUpstream;
  return classifyFailure(route.provider.failures, { status, headers: noHeaders, body: "" }, now);
}
