import { speechCodec, speechRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const speechRoute = chargeableRoute({
  contract: {
    path: "/v1/audio/speech",
    operationId: "createSpeech",
    tag: "Audio",
    summary: "Text to speech.",
    streams: true,
    answers: ["audio/mpeg", "audio/opus", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"],
  },
  operations: ["speech"],
  surface: "openai",
  body: speechRequest,
  codec: speechCodec,
});
