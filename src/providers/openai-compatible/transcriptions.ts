import type { UpstreamOperation } from "../provider.ts";
import { refusal } from "../shared/transcript.ts";
import { transcriptionOperation } from "../shared/transcription-operation.ts";

export const transcription = transcriptionOperation("/audio/transcriptions");

/** Into English. */
export const translation = transcriptionOperation("/audio/translations");

const groqFormats = ["json", "verbose_json", "text"];

/** Groq makes no subtitles. */
function withoutSubtitles(operation: UpstreamOperation): UpstreamOperation {
  return {
    ...operation,
    reshape({ body: { response_format: format } }) {
      if (format === undefined || groqFormats.some((known) => known === format)) return undefined;
      throw refusal("response_format", `this upstream answers in ${groqFormats.join(", ")}.`);
    },
  };
}

export const groqTranscription = withoutSubtitles(transcription);
export const groqTranslation = withoutSubtitles(translation);
