import { transcriptionOperation } from "../shared/transcription-operation.ts";

export const transcription = transcriptionOperation("/audio/transcriptions");

/** Into English. */
export const translation = transcriptionOperation("/audio/translations");
