export { speechRequest, transcriptionForm, translationForm } from "./request.ts";
export { speechCodec } from "./speech.ts";
export { transcriptionCodec, translationCodec } from "./transcription.ts";
