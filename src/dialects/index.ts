import { type Dialect, parseObject } from "../core/index.ts";
import { chatCodec, chatTranslation } from "./chat/index.ts";
import type { DialectTranslation, Failure } from "./conversation/index.ts";
import { geminiCodec, geminiTranslation } from "./gemini/index.ts";
import { messagesCodec, messagesTranslation, readErrorEvent } from "./messages/index.ts";
import { readAnsweredError } from "./openai-failures.ts";
import { responsesCodec, responsesTranslation } from "./responses/index.ts";

export type { TextCodec } from "./codec.ts";
export {
  answersInParts,
  chatCodec,
  chatRequest,
  collectThoughts,
  plainContent,
  plainContentStream,
  readsContentParts,
  regularChatStream,
  singleRoleStream,
  watchThoughts,
} from "./chat/index.ts";
export {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  type AnswerThoughts,
  type Citation,
  callingTool,
  callsWithoutThoughts,
  collectAnswer,
  forcedAnswer,
  hasTaggedSignature,
  type ClientContext,
  type Conversation,
  type DialectTranslation,
  estimateTokens,
  eventsOfAnswer,
  fitToolNames,
  type Failure,
  type FailureKind,
  type Part,
  type Source,
  failureOf,
  type FetchedImages,
  fetchedTextBytes,
  type ImageAddress,
  imageAddresses,
  leaveOutHostedTools,
  namingTools,
  nativeOrigin,
  restoringTools,
  stoppingAt,
  type Stop,
  type StreamReader,
  type StreamWriter,
  substituteTools,
  thoughtsOfAnswer,
  withToolsInEffect,
  type ToolCallPart,
  type TranslationTarget,
  type UpstreamContext,
  withFetchedImages,
  withOwnTools,
  withThoughtsOfCalls,
} from "./conversation/index.ts";
export {
  comparesModels,
  countTokensRequest,
  messagesCodec,
  messagesReferences,
  messagesRequest,
  misfitsMessages,
  ownResultStart,
  packResult,
  streamUnderModel,
  textOfHosted,
  underModel,
  unpackResult,
} from "./messages/index.ts";
export {
  foundBySearch,
  countResponseTokensRequest,
  inConversation,
  imageTypeOf,
  isInContainer,
  isOwnRun,
  inputItems,
  queuedResponse,
  itemsOfMakers,
  referencedItems,
  responsesCodec,
  responsesRequest,
  streamInConversation,
} from "./responses/index.ts";
export { camelMember, geminiBody, geminiCodec, type GeminiRequest, geminiRequest, inCamel } from "./gemini/index.ts";
export { createdThoughts, thoughtsOf } from "./sealed-thoughts.ts";
export { type FirstContent, firstContentOf, isRefusal } from "./first-content.ts";
export { streamOfAnswer, translateStream } from "./translated-stream.ts";

/** The bytes of text in a whole answer of each dialect, for an estimate if it reports no usage. */
export const outputBytesIn: Readonly<Record<Dialect, (answer: string) => number>> = {
  chat: (answer) => chatCodec.outputBytes(answer),
  messages: (answer) => messagesCodec.outputBytes(answer),
  gemini: (answer) => geminiCodec.outputBytes(answer),
  responses: (answer) => responsesCodec.outputBytes(answer),
};

/** Each dialect, to and from the conversation model. */
export const translations: Readonly<Record<Dialect, DialectTranslation>> = {
  chat: chatTranslation,
  messages: messagesTranslation,
  gemini: geminiTranslation,
  responses: responsesTranslation,
};
export { readOpenaiFailure, writeOpenaiError } from "./openai-failures.ts";

/** The error that came as an answer with a status of success; of an upstream without a dialect, in OpenAI's format. */
export function readFailedAnswer(dialect: Dialect | undefined, body: string): Failure {
  return dialect === "messages" ? readErrorEvent(parseObject(body) ?? {}) : readAnsweredError(body);
}
