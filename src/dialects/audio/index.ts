export {
  type SpeechRequest,
  speechRequest,
  type TranscriptionForm,
  transcriptionForm,
  type TranslationForm,
  translationForm,
} from "./request.ts";
export { speechCodec } from "./speech.ts";
export { transcriptionCodec, translationCodec } from "./transcription.ts";
