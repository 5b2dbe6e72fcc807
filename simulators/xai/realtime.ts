import { asObject } from "../shared/json.ts";
import type { RealtimeFlavor } from "../shared/realtime/flavor.ts";
import { secretOf } from "../shared/realtime/secrets.ts";
import { startSession } from "../shared/realtime/session.ts";
import { isMissingModel, jsonAnswer, type Route, type SocketRoute } from "../shared/types.ts";
import { xaiErrors } from "./errors.ts";

/** Used if the query names no model. */
const defaultModel = "grok-voice-latest";

/** Sessions are billed by their time: responses report no usage. Text has the name of OpenAI's earlier API. */
const flavor: RealtimeFlavor = {
  session: (id, model) => ({
    id,
    object: "realtime.session",
    model,
    voice: "eve",
    instructions: "",
    turn_detection: { type: "server_vad" },
  }),
  textEvent: "response.text",
  reportsUsage: false,
  reportsLimits: false,
  announcesConversation: true,
};

/** `/v1/realtime`. */
export const realtimeSockets: readonly SocketRoute[] = [
  {
    path: "/xai/v1/realtime",
    refuse: ({ model }) => (isMissingModel(model) ? xaiErrors.modelNotFound(model) : undefined),
    open(socket, { model }, name) {
      startSession({
        socket,
        flavor,
        model: model === "" ? defaultModel : model,
        type: "realtime",
        name,
        preset: undefined,
      });
    },
  },
];

/** `POST /v1/realtime/client_secrets`, whose body names no session. */
export const realtimeRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/xai/v1/realtime/client_secrets",
    handle(call) {
      const seconds = Number(asObject(asObject(call.body)["expires_after"])["seconds"] ?? 600);
      return jsonAnswer({ value: secretOf({}), expires_at: call.identity.created + seconds });
    },
  },
];
