import { z } from "@hono/zod-openapi";
import { transcriptionCodec, transcriptionForm } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file, partNames } from "../contract.ts";

/** A part with this name may be repeated; one without the brackets may not. */
const texts = z.array(z.string()).optional();

const form = transcriptionForm
  .omit({ include: true, timestamp_granularities: true, known_speaker_names: true, known_speaker_references: true })
  .extend({
    file,
    "include[]": texts,
    "timestamp_granularities[]": texts.describe("word and segment; for verbose_json."),
    "known_speaker_names[]": texts,
    "known_speaker_references[]": texts,
  })
  .catchall(z.string())
  .meta(partNames);

export const transcriptionsRoute = chargeableRoute({
  contract: {
    path: "/v1/audio/transcriptions",
    operationId: "createTranscription",
    tag: "Audio",
    summary: "Transcribe audio.",
    form,
    streams: true,
    answers: ["text/plain"],
  },
  operations: ["transcription"],
  surface: "openai",
  form: { body: transcriptionForm, file: "file", sound: true },
  codec: transcriptionCodec,
});
