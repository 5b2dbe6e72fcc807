import { type JsonObject, objectOf } from "../../core/index.ts";
import { readRealtimeUsage, realtimeOperation } from "../shared/realtime-operation.ts";
import { transcription } from "./transcriptions.ts";

/**
 * The session of OpenAI's present API. Older clients send `voice` and `modalities` flat; a session now generates either
 * audio, with its transcript, or text.
 */
function toUpstreamSession(session: JsonObject, type: "realtime" | "transcription"): JsonObject {
  const { voice, modalities, ...rest } = session;
  const upstream: Record<string, unknown> = { ...rest, type };
  if (type === "transcription") return upstream;
  if (voice !== undefined) {
    const audio = objectOf(rest["audio"]) ?? {};
    const output = objectOf(audio["output"]) ?? {};
    upstream["audio"] = { ...audio, output: { voice, ...output } };
  }
  if (Array.isArray(modalities) && rest["output_modalities"] === undefined) {
    upstream["output_modalities"] = [modalities.includes("audio") ? "audio" : "text"];
  }
  return upstream;
}

/** OpenAI's realtime sessions (`docs/wire/openai.md`). */
export const realtime = realtimeOperation({
  query: (type, model) => (type === "transcription" ? "intent=transcription" : `model=${encodeURIComponent(model)}`),
  toUpstreamSession,
  readUsage: readRealtimeUsage,
  readTranscriptionUsage: (usage) => transcription.readUsage({ usage }),
  ...(transcription.audioMsStep !== undefined && { audioMsStep: transcription.audioMsStep }),
});
