import { transcriptionCodec, transcriptionForm } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file } from "../contract.ts";

export const transcriptionsRoute = chargeableRoute({
  contract: {
    path: "/v1/audio/transcriptions",
    operationId: "createTranscription",
    tag: "Audio",
    summary: "Transcribe audio.",
    form: transcriptionForm.extend({ file }),
    streams: true,
    answers: ["text/plain"],
  },
  operations: ["transcription"],
  surface: "openai",
  form: { body: transcriptionForm, file: "file", sound: true },
  codec: transcriptionCodec,
});
