import { z } from "zod";
import { issueClientSecret, type Principal, type RealtimeGrant } from "../../auth/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { modelId } from "../../bodies/index.ts";
import { isModel, updateSession } from "../client-messages.ts";
import { modelsOf, resolveSession } from "./open-session.ts";
import type { RealtimeDependencies } from "../realtime-dependencies.ts";
import { SessionWorks, transcriptionModelOf, withTranscription } from "../session-works.ts";

const SECONDS_DEFAULT = 600;

/** The body of `POST /v1/realtime/client_secrets`, with OpenAI's names. */
export const clientSecretRequest = z
  .looseObject({
    expires_after: z
      .looseObject({
        anchor: z.literal("created_at").optional(),
        seconds: z.number().int().min(10).max(7_200).default(SECONDS_DEFAULT),
      })
      .optional()
      .describe(`How long sessions can be started with the secret: 10 to 7200 seconds, ${SECONDS_DEFAULT} by default.`),
    session: z
      .looseObject({
        type: z.enum(["realtime", "transcription"]).default("realtime"),
        model: modelId.optional().describe("Provider-prefixed realtime model."),
        voice: z.union([z.string(), z.looseObject({})]).optional(),
        modalities: z.array(z.string()).optional(),
      })
      .describe("The session, in the terms of the provider's session object."),
  })
  .meta({ id: "ClientSecretRequest" });

/** The answer of `POST /v1/realtime/client_secrets`. */
export interface CreatedClientSecret {
  value: string;
  /** Seconds since the epoch. */
  expires_at: number;
  session: JsonObject;
}

/**
 * Creates a secret of the gateway's own, which starts sessions of this kind and nothing else. Throws 422 for a session that
 * could not be opened, and 402 if not even its first response could be held.
 */
export async function createClientSecret(
  deps: RealtimeDependencies,
  {
    requestId: id,
    principal,
    body,
  }: { requestId: string; principal: Principal; body: z.output<typeof clientSecretRequest> },
): Promise<CreatedClientSecret> {
  const { environment, clientSecrets } = deps;
  const { type, model: named, ...settings } = body.session;
  const model = named ?? (type === "transcription" ? transcriptionModelOf(settings) : undefined);
  if (typeof model !== "string") throw invalid("session.model", "Name the model of the session, with its prefix.");
  const asked = { type, model };
  const { target, api } = resolveOr422(deps, asked, principal);
  const modelOf = modelsOf(deps, { target, asked }, principal);
  const transcribed = transcriptionModelOf(settings);
  if (type === "transcription" && typeof transcribed === "string" && !isModel({ target, modelOf }, transcribed)) {
    throw invalid("session.audio.input.transcription.model", "The session names two models.");
  }
  const start = { id, type, principal, target, api, session: undefined, clientSession: undefined };
  const works = new SessionWorks({ deps, start, onExhausted: () => undefined });
  works.context.addText(JSON.stringify(settings).length);
  const resolveTranscription = (name: string) =>
    deps.router.resolve(`${target.route.prefix}/${name}`, ["realtime_transcription"], principal);
  const complete = type === "transcription" ? withTranscription(settings, target.model) : settings;
  const session = updateSession({ works, type, target, modelOf, isModelFixed: true, resolveTranscription }, complete);
  // The first work is held for a moment: what cannot be held now could not be begun either.
  await works.open();
  await works.close({});
  const createdAt = environment.clock();
  const { signedUntil } = principal;
  const wantedUntil = createdAt + 1_000 * (body.expires_after?.seconds ?? SECONDS_DEFAULT);
  const expiresAt = Math.floor(Math.min(wantedUntil, signedUntil ?? wantedUntil));
  // The target of a route is chosen at the handshake.
  const isRoute = deps.router.routeOf(model) !== undefined;
  const granted = isRoute ? { model, session: settings } : { model: target.modelId, session };
  const grant: RealtimeGrant = { type, ...granted, ...(signedUntil !== undefined && { signedUntil }) };
  const { id: secretId, value, secretHash } = issueClientSecret(environment.randomBytes);
  await clientSecrets.insert({ id: secretId, secretHash, tokenId: principal.tokenId, grant, createdAt, expiresAt });
  return {
    value,
    expires_at: Math.floor(expiresAt / 1_000),
    session: {
      ...api.toUpstreamSession(session, type),
      type,
      id: `sess_${secretId}`,
      object: `realtime.${type === "realtime" ? "session" : "transcription_session"}`,
      ...(type === "realtime" && { model: isRoute ? model : target.model }),
    },
  };
}

/** The contract knows no 404 for this route: a model that has no sessions is a mistake in the body. */
function resolveOr422(
  ...[deps, asked, principal]: Parameters<typeof resolveSession>
): ReturnType<typeof resolveSession> {
  try {
    return resolveSession(deps, asked, principal);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.status !== 404) throw thrown;
    throw new GatewayError("validation_failed", thrown.message, { param: "session.model" });
  }
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
