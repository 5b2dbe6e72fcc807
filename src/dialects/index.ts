import type { Dialect } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { DialectTranslation } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";

export {
  speechCodec,
  type SpeechRequest,
  speechRequest,
  transcriptionCodec,
  type TranscriptionForm,
  transcriptionForm,
  translationCodec,
  type TranslationForm,
  translationForm,
} from "./audio/index.ts";
export { tokensOfBytes } from "./bounds.ts";
export { chatCodec, type ChatRequest, chatRequest } from "./chat/index.ts";
export { carriesSeal, type ClientContext, estimateTokens, type UpstreamContext } from "./conversation/index.ts";
export type { CallBound, TextCodec, ReadUsage, StreamObserver, MediaCodec, MediaEvents } from "./codec.ts";
export { embeddingsCodec, type EmbeddingsRequest, embeddingsRequest } from "./embeddings/index.ts";
export {
  imageEditCodec,
  imageEditForm,
  type ImageEditRequest,
  imageEditRequest,
  imageGenerationCodec,
  type ImageGenerationRequest,
  imageGenerationRequest,
} from "./images/index.ts";
export { countTokensRequest, messagesCodec, type MessagesRequest, messagesRequest } from "./messages/index.ts";
export {
  inputItems,
  referencedItems,
  responsesCodec,
  type ResponsesRequest,
  responsesRequest,
} from "./responses/index.ts";
export { streamOfAnswer, translateStream } from "./translated-stream.ts";

/** Each dialect, to and from the conversation model. */
export const translations: Readonly<Record<Dialect, DialectTranslation>> = {
  chat: chatTranslation,
  messages: messagesTranslation,
  responses: responsesTranslation,
};
