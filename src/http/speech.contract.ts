import { speechRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const speechContract = proxiedRoute({
  path: "/v1/audio/speech",
  operationId: "createSpeech",
  tag: "Audio",
  summary: "Text to speech.",
  body: speechRequest,
  streams: true,
  answers: ["audio/mpeg", "audio/opus", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"],
});
