import { asObject, type JsonObject, stringOr } from "../shared/json.ts";
import type { RealtimeFlavor } from "../shared/realtime/flavor.ts";
import { readSecret, secretOf } from "../shared/realtime/secrets.ts";
import { startSession } from "../shared/realtime/session.ts";
import {
  type Call,
  type Answer,
  errorAnswer,
  isMissingModel,
  jsonAnswer,
  type Route,
  type SocketRoute,
} from "../shared/types.ts";
import { openaiErrors, openaiRefusal } from "./errors.ts";

const format = { type: "audio/pcm", rate: 24_000 };
const detection = {
  type: "server_vad",
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 200,
  idle_timeout_ms: null,
  create_response: true,
  interrupt_response: true,
};

const flavor: RealtimeFlavor = {
  session: (id, model, type) => {
    const input = { format, transcription: null, noise_reduction: null, turn_detection: detection };
    if (type === "transcription") {
      return { type, object: "realtime.transcription_session", id, expires_at: 0, audio: { input }, include: null };
    }
    return {
      type,
      object: "realtime.session",
      id,
      model,
      output_modalities: ["audio"],
      instructions: "Your knowledge cutoff is 2023-10. You are a helpful, witty, and friendly AI.",
      tools: [],
      tool_choice: "auto",
      max_output_tokens: "inf",
      tracing: null,
      truncation: "auto",
      prompt: null,
      expires_at: 0,
      audio: { input, output: { format, voice: "marin", speed: 1 } },
      include: null,
    };
  },
  textEvent: "response.output_text",
  reportsUsage: true,
  reportsLimits: true,
  announcesConversation: false,
};

/** `/v1/realtime`. */
export const realtimeSockets: readonly SocketRoute[] = [
  {
    path: "/openai/v1/realtime",
    refuse({ model, query, key }) {
      const isNamed = [query.has("model"), query.has("call_id"), query.get("intent") === "transcription"];
      const hasSession = readSecret(key ?? "") !== undefined;
      if (isNamed.filter(Boolean).length !== 1 && !hasSession) {
        return openaiRefusal("Name exactly one of model, call_id and intent.", "model", "missing_model");
      }
      return isMissingModel(model) ? openaiErrors.modelNotFound(model) : undefined;
    },
    open(socket, { model, query, key }, name) {
      const preset = readSecret(key ?? "");
      const type =
        query.get("intent") === "transcription" || preset?.["type"] === "transcription" ? "transcription" : "realtime";
      const named = model === "" ? stringOr(preset?.["model"], "") : model;
      startSession({ socket, flavor, model: named, type, name, preset });
    },
  },
];

function createSecret(call: Call): Answer {
  const body = asObject(call.body);
  const session = asObject(body["session"]);
  const { model } = session;
  const type = session["type"] === "transcription" ? "transcription" : "realtime";
  if (session["type"] === undefined)
    return errorAnswer(
      openaiRefusal("Missing required parameter: 'session.type'.", "session.type", "missing_required_parameter"),
    );
  if (type === "realtime" && typeof model !== "string") {
    return errorAnswer(
      openaiRefusal("Missing required parameter: 'session.model'.", "session.model", "missing_required_parameter"),
    );
  }
  const whole: JsonObject = {
    ...flavor.session(`sess_${call.identity.token("session", 20)}`, stringOr(model, ""), type),
    ...session,
  };
  const seconds = Number(asObject(body["expires_after"])["seconds"] ?? 600);
  return jsonAnswer({ value: secretOf(session), expires_at: call.identity.created + seconds, session: whole });
}

/** `POST /v1/realtime/client_secrets`. */
export const realtimeRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/realtime/client_secrets", handle: createSecret },
];
