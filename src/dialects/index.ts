export { chatDialect, type ChatRequest, chatRequest, chatTranslation } from "./chat/index.ts";
export {
  type Answer,
  type AnswerEvent,
  type ClientContext,
  type Conversation,
  type DialectTranslation,
  estimateTokens,
  type Failure,
  failureOf,
  sealMark,
  type TranslationTarget,
  type UpstreamContext,
} from "./conversation/index.ts";
export type { CallBound, DialectCodec, ReadUsage, StreamObserver } from "./dialect.ts";
export { messagesDialect, type MessagesRequest, messagesRequest, messagesTranslation } from "./messages/index.ts";
export {
  boundItems,
  inputItems,
  type KeptItems,
  readResponsesRequest,
  referencedItems,
  responsesDialect,
  type ResponsesRequest,
  responsesRequest,
  ResponsesStreamWriter,
  responsesTranslation,
} from "./responses/index.ts";
export { TranslatedStream, type TranslatedStreamOptions } from "./translated-stream.ts";
