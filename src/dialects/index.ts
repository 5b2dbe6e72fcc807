import type { Dialect } from "../core/index.ts";
import { chatCodec, chatTranslation } from "./chat/index.ts";
import type { DialectTranslation } from "./conversation/index.ts";
import { messagesCodec, messagesTranslation } from "./messages/index.ts";
import { responsesCodec, responsesTranslation } from "./responses/index.ts";

export type { TextCodec } from "./codec.ts";
export {
  answersInParts,
  chatCodec,
  chatRequest,
  plainContent,
  plainContentStream,
  readsContentParts,
  regularChatStream,
  singleRoleStream,
} from "./chat/index.ts";
export {
  hasTaggedSignature,
  type ClientContext,
  type Conversation,
  type DialectTranslation,
  estimateTokens,
  fitToolNames,
  leaveOutHostedTools,
  namingTools,
  restoringTools,
  substituteTools,
  type TranslationTarget,
  type UpstreamContext,
} from "./conversation/index.ts";
export {
  comparesModels,
  countTokensRequest,
  messagesCodec,
  messagesReferences,
  messagesRequest,
  streamUnderModel,
  underModel,
} from "./messages/index.ts";
export {
  countResponseTokensRequest,
  inputItems,
  referencedItems,
  responsesCodec,
  responsesRequest,
} from "./responses/index.ts";
export { streamOfAnswer, translateStream } from "./translated-stream.ts";

/** The bytes of text in a whole answer of each dialect, for an estimate if it reports no usage. */
export const outputBytesIn: Readonly<Record<Dialect, (answer: string) => number>> = {
  chat: (answer) => chatCodec.outputBytes(answer),
  messages: (answer) => messagesCodec.outputBytes(answer),
  responses: (answer) => responsesCodec.outputBytes(answer),
};

/** Each dialect, to and from the conversation model. */
export const translations: Readonly<Record<Dialect, DialectTranslation>> = {
  chat: chatTranslation,
  messages: messagesTranslation,
  responses: responsesTranslation,
};
export { readOpenaiFailure, writeOpenaiError } from "./openai-failures.ts";
