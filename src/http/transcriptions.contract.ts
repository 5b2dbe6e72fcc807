import { transcriptionForm } from "../dialects/index.ts";
import { file, proxiedRoute } from "./shared.contract.ts";

export const transcriptionsContract = proxiedRoute({
  path: "/v1/audio/transcriptions",
  operationId: "createTranscription",
  tag: "Audio",
  summary: "Transcribe audio.",
  form: transcriptionForm.extend({ file }),
  streams: true,
  answers: ["text/plain"],
});
