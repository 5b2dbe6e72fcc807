/**
 * Opens a session: resolve → hold the first response → connect → relay. What is refused before the upstream's socket is
 * open is an ordinary answer to the handshake.
 */
import type { Principal, RealtimeGrant, SocketCaller } from "../../auth/index.ts";
import { refuseChargeMax } from "../../charges/index.ts";
import { type AcceptedSocket, endUserOf, GatewayError, type ModelOperation, sessionOf } from "../../core/index.ts";
import type { RealtimeApi, SessionType } from "../../providers/index.ts";
import { callTargets, mayHaveTargets, quoted, type Target } from "../../routing/index.ts";
import { connectUpstream } from "../../sending/index.ts";
import { updateSession } from "../client-messages.ts";
import { type HandshakeAttempt, openRouted } from "./open-routed.ts";
import type { RealtimeDependencies, SessionStart } from "../realtime-dependencies.ts";
import { SessionWorks, withTranscription } from "../session-works.ts";
import { RealtimeSession } from "../session.ts";

/** The handshake of a client. */
export interface SessionHandshake {
  requestId: string;
  request: Request;
  caller: SocketCaller;
}

/** The session that a handshake, or a client secret, is for. */
export interface AskedSession {
  type: SessionType;
  model: string;
}

/** The model of a transcription session until its client names another one, as OpenAI's clients do after the handshake. */
const TRANSCRIPTION_MODEL = "gpt-4o-transcribe";

/** Throws a `GatewayError` for what is refused; `onEnd` is called once a session that was accepted has ended. */
export async function openSession(
  deps: RealtimeDependencies,
  call: SessionHandshake,
  onEnd: () => void,
): Promise<Response | AcceptedSocket> {
  const { request, caller } = call;
  refuseChargeMax(request.headers, "the responses of a session");
  const asked = askedBy(deps, new URL(request.url).searchParams, caller.grant);
  const opened = await openAny(deps, call, asked, onEnd);
  if (opened.kind === "accepted") return opened.accepted;
  onEnd();
  return refusalOf(opened.target, opened.status);
}

type Opened = { kind: "accepted"; accepted: AcceptedSocket } | { kind: "refused"; target: Target; status: number };

/** Opens the session at its target, or at one of its route's. */
async function openAny(
  deps: RealtimeDependencies,
  call: SessionHandshake,
  asked: AskedSession,
  onEnd: () => void,
): Promise<Opened> {
  const { router, busy, circuits, environment } = deps;
  const { principal } = call.caller;
  const { headers } = call.request;
  const { model: modelId } = asked;
  const question = { router, busy, circuits, random: environment.randomFraction, session: undefined };
  const targets = mayHaveTargets(router, modelId, headers)
    ? callTargets({ ...question, modelId, operations: [operationOf(asked)], principal, headers })
    : undefined;
  if (targets === undefined) {
    return openAt(deps, call, { asked, found: resolveSession(deps, asked, principal), onEnd });
  }
  const leave = (): void => {
    targets.leave();
    onEnd();
  };
  try {
    const opened = await openRouted(deps, targets, (target, attempt) =>
      openAt(deps, call, { asked, found: sessionAt(target, asked), attempt, onEnd: leave }),
    );
    if (opened.kind === "refused") targets.leave();
    return opened;
  } catch (thrown) {
    targets.leave();
    throw thrown;
  }
}

interface Opening {
  asked: AskedSession;
  found: FoundSession;
  attempt?: HandshakeAttempt;
  onEnd: () => void;
}

/** Holds the first work, and opens the session at one target. */
async function openAt(
  deps: RealtimeDependencies,
  call: SessionHandshake,
  { asked, found: { target, api }, attempt, onEnd }: Opening,
): Promise<Opened> {
  const { requestId: id, request, caller } = call;
  const { principal, grant, protocol } = caller;
  const { type } = asked;
  const isModelFixed = type === "realtime" || grant !== undefined || new URL(request.url).searchParams.has("model");
  // The upstream takes the model of a transcription from the session, not from the query.
  const isNamed = type === "transcription" && isModelFixed;
  const session = isNamed ? withTranscription(grant?.session ?? {}, target.model) : grant?.session;
  const clientSession = sessionOf(request.headers);
  const endUser = endUserOf(request.headers, undefined);
  const named = deps.work.tags?.of(principal, request.headers, undefined);
  const tags = named?.tags;
  const start: SessionStart = { id, type, principal, target, api, session, clientSession, endUser, tags };
  let relay: RealtimeSession | undefined;
  const works = new SessionWorks({ deps, start, onExhausted: (error, what) => relay?.exhausted(error, what) });
  const resolveTranscription = (name: string): Target =>
    deps.router.resolve(`${target.route.prefix}/${name}`, ["realtime_transcription"], principal);
  const modelOf = modelsOf(deps, { target, asked }, principal);
  const rules = { works, isModelFixed, type, target, modelOf, resolveTranscription };
  // A secret for a route has settings that this target may not take.
  if (session !== undefined && deps.router.routeOf(asked.model) !== undefined) updateSession(rules, session);
  // The hold covers the instructions of the client secret.
  if (session !== undefined) works.context.addText(JSON.stringify(session).length);
  await works.open();
  try {
    await named?.keep?.();
    const { bounds, environment, send, observer } = deps;
    const { retries = send.retries, openMsMax = bounds.connectMsMax, hasNext, onAttempt, onFailure } = attempt ?? {};
    const connected = await connectUpstream(
      { environment, send: { ...send, retries }, observer },
      {
        workId: id,
        target,
        query: api.query(type, target.model),
        clientHeaders: request.headers,
        openMsMax,
        hasNext,
        onAttempt,
        onFailure,
      },
    );
    if (connected.kind === "refused") {
      await works.close({});
      return { kind: "refused", target, status: connected.status };
    }
    works.connected();
    relay = listedSession({ deps, start, upstream: connected.socket, works, rules, onEnd });
    return { kind: "accepted", accepted: { socket: relay, ...(protocol === undefined ? {} : { protocol }) } };
  } catch (thrown) {
    await works.close({});
    throw thrown;
  }
}

/** A session that operators see, and may end. */
function listedSession({ onEnd, ...parts }: ConstructorParameters<typeof RealtimeSession>[0]): RealtimeSession {
  const { deps, start } = parts;
  const { id, type, principal, target, endUser } = start;
  const { user: owner, accountId, tokenId } = principal;
  const openedAt = deps.environment.clock();
  const listed = { id, type, model: target.modelId, owner, accountId, tokenId, endUser, openedAt };
  const opened = new RealtimeSession({
    ...parts,
    onEnd() {
      leave();
      onEnd();
    },
  });
  const leave = deps.openSessions.enter(listed, () =>
    opened.revoke(new GatewayError("session_ended", "An operator has ended the session.")),
  );
  return opened;
}

/** A client secret determines the session; the query may repeat its model. */
function askedBy(
  { router }: Pick<RealtimeDependencies, "router">,
  query: URLSearchParams,
  grant: RealtimeGrant | undefined,
): AskedSession {
  const model = query.get("model") ?? undefined;
  const intent = query.get("intent") ?? undefined;
  if (query.has("call_id"))
    throw invalid("call_id", "Calls over WebRTC and SIP are not available, since they cannot be metered.");
  if (intent !== undefined && intent !== "transcription") throw invalid("intent", "The only intent is transcription.");
  const type = intent === "transcription" ? "transcription" : "realtime";
  if (grant !== undefined) {
    if (intent !== undefined && grant.type !== type)
      throw invalid("intent", `The client secret is for a ${grant.type} session.`);
    if (model !== undefined && model !== grant.model && !grant.model.endsWith(`/${model}`)) {
      throw invalid("model", "The client secret is for another model.");
    }
    return { type: grant.type, model: grant.model };
  }
  if (model !== undefined) return { type, model };
  const transcribing = router.routes.filter(({ provider }) => provider.operations.realtime_transcription !== undefined);
  const route = transcribing.find(({ requiredVariable }) => requiredVariable === undefined) ?? transcribing[0];
  if (type === "transcription" && route !== undefined) return { type, model: `${route.prefix}/${TRANSCRIPTION_MODEL}` };
  throw invalid("model", "Name the model: /v1/realtime?model=<prefix>/<model>.");
}

/**
 * The provider's model that a name stands for, an alias for example; undefined for a name of none or of another provider. The name
 * that the session was asked for stands for its target.
 */
export function modelsOf(
  { router }: Pick<RealtimeDependencies, "router">,
  { target, asked }: { target: Target; asked: Pick<AskedSession, "model"> },
  principal: Principal,
): (name: string) => string | undefined {
  const { prefix } = target.route;
  return (name) => {
    if (name === asked.model) return target.model;
    try {
      const { route, model } = router.find(name, principal);
      return route.prefix === prefix ? model : undefined;
    } catch (thrown) {
      if (thrown instanceof GatewayError) return undefined;
      throw thrown;
    }
  };
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}

interface FoundSession {
  target: Target;
  api: RealtimeApi;
}

/** The target of a session, the first usable one of a route. Throws for a model that has none. */
export function resolveSession(
  { router }: Pick<RealtimeDependencies, "router">,
  asked: AskedSession,
  principal: Principal,
): FoundSession {
  return sessionAt(router.resolve(asked.model, [operationOf(asked)], principal), asked);
}

function operationOf({ type }: AskedSession): ModelOperation {
  return type === "realtime" ? "realtime" : "realtime_transcription";
}

/** Throws for a model that is not for such sessions. */
function sessionAt(target: Target, { type, model }: AskedSession): FoundSession {
  const api = target.operation.realtime;
  if (api === undefined) throw new Error(`${target.route.prefix} has a realtime operation without its API`);
  const { kind } = target.price;
  if (kind !== undefined && kind !== type) {
    const message = `${quoted(model)} is not a model for ${type} sessions.`;
    throw new GatewayError("unsupported_operation", message, { param: "model" });
  }
  return { target, api };
}

function refusalOf({ route }: Target, status: number): Response {
  const message = `The upstream of ${route.prefix} refused the session with ${status}.`;
  const headers = route.sandbox ? { "x-tollgate-sandbox": "true" } : {};
  const body = { error: { message, type: "upstream_error", code: "upstream_refused", param: null } };
  return Response.json(body, { status, headers });
}
