/**
 * Opens a session: resolve → hold the first response → connect → relay. What is refused before the upstream's socket is
 * open is an ordinary answer to the handshake.
 */
import type { Principal, RealtimeGrant, SocketCaller } from "../auth/index.ts";
import { refuseChargeMax } from "../charges/index.ts";
import { type AcceptedSocket, GatewayError, sessionOf } from "../core/index.ts";
import type { RealtimeApi, SessionType } from "../providers/index.ts";
import { quoted, type Target } from "../routing/index.ts";
import { connectUpstream } from "../sending/index.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";
import { SessionWorks, withTranscription } from "./session-works.ts";
import { RealtimeSession } from "./session.ts";

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
  const { requestId: id, request, caller } = call;
  const { principal, grant, protocol } = caller;
  refuseChargeMax(request.headers, "the responses of a session");
  const query = new URL(request.url).searchParams;
  const asked = askedBy(deps, query, grant);
  const { type } = asked;
  const { target, api } = resolveSession(deps, asked, principal);
  const isModelFixed = type === "realtime" || grant !== undefined || query.has("model");
  // The upstream takes the model of a transcription from the session, not from the query.
  const named = type === "transcription" && isModelFixed ? withTranscription({}, target.model) : undefined;
  const session = grant?.session ?? named;
  const clientSession = sessionOf(request.headers);
  const start: SessionStart = { id, type, principal, target, api, session, clientSession };
  let relay: RealtimeSession | undefined;
  const works = new SessionWorks({ deps, start, onExhausted: (error, what) => relay?.exhausted(error, what) });
  const resolveTranscription = (name: string): Target =>
    deps.router.resolve(`${target.route.prefix}/${name}`, ["realtime_transcription"], principal);
  const modelOf = modelsOf(deps, target, principal);
  const rules = { works, isModelFixed, type, target, modelOf, resolveTranscription };
  // The hold covers the instructions of the client secret.
  if (session !== undefined) works.context.addText(JSON.stringify(session).length);
  await works.open();
  try {
    const { bounds, environment, send, observer } = deps;
    const connected = await connectUpstream(
      { environment, send, observer },
      {
        workId: id,
        target,
        query: api.query(type, target.model),
        clientHeaders: request.headers,
        openMsMax: bounds.connectMsMax,
      },
    );
    if (connected.kind === "refused") {
      await works.close({});
      onEnd();
      return refusalOf(target, connected.status);
    }
    works.connected();
    relay = new RealtimeSession({ deps, start, upstream: connected.socket, works, rules, onEnd });
    return { socket: relay, ...(protocol === undefined ? {} : { protocol }) };
  } catch (thrown) {
    await works.close({});
    throw thrown;
  }
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

/** The provider's model that a name stands for, an alias for example; undefined for a name of none or of another provider. */
export function modelsOf(
  { router }: Pick<RealtimeDependencies, "router">,
  { route: { prefix } }: Target,
  principal: Principal,
): (name: string) => string | undefined {
  return (name) => {
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

/** The target of a session. Throws for a model that has none. */
export function resolveSession(
  { router }: Pick<RealtimeDependencies, "router">,
  { type, model }: AskedSession,
  principal: Principal,
): { target: Target; api: RealtimeApi } {
  const target = router.resolve(model, [type === "realtime" ? "realtime" : "realtime_transcription"], principal);
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
