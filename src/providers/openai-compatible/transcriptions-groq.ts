import type { UpstreamOperation } from "../provider.ts";
import { refusal } from "../shared/refusal.ts";
import { transcriptionOperation, translationOperation } from "../shared/audio/transcription-operation.ts";

const groqFormats = ["json", "verbose_json", "text"];

/** Groq doesn't support subtitle formats. */
function withoutSubtitles(operation: UpstreamOperation): UpstreamOperation {
  return {
    ...operation,
    toUpstream({ body: { response_format: format } }) {
      if (format === undefined || groqFormats.some((known) => known === format)) return undefined;
      throw refusal("response_format", `this upstream supports ${groqFormats.join(", ")}.`);
    },
  };
}

export const groqTranscription = withoutSubtitles(transcriptionOperation);
export const groqTranslation = withoutSubtitles(translationOperation);
