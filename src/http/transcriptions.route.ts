import { transcriptionCodec, transcriptionForm } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { transcriptionsContract } from "./transcriptions.contract.ts";

export const transcriptionsRoute = chargeable(transcriptionsContract, {
  operations: ["transcription"],
  surface: "openai",
  form: { body: transcriptionForm, file: "file", sound: true },
  codec: transcriptionCodec,
});
