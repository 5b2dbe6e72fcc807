export type {
  Answer,
  AnswerChoice,
  AnswerEvent,
  BlockStartEvent,
  DeltaEvent,
  StartEvent,
  Stop,
  StopReason,
  UsageEvent,
} from "./answer.ts";
export { brokenOff, startEvent } from "./answer.ts";
export { collectAnswer, eventsOfAnswer } from "./collect-answer.ts";
export { placeSystem } from "./place-system.ts";
export { promptForFormat } from "./prompt-for-format.ts";
export { BlockQueue, type QueuedBlock } from "./block-queue.ts";
export { plainCallId, shortCallId } from "./tools/call-ids.ts";
export { checkToolCalls } from "./tools/check-tool-calls.ts";
export type {
  Conversation,
  FunctionTool,
  NativeTool,
  OutputFormat,
  ReasoningOptions,
  Sampling,
  Tool,
  ToolChoice,
  ToolSubstitute,
  Turn,
} from "./conversation.ts";
export { effortFor, wantsThoughts } from "./effort.ts";
export { estimateTokens } from "./estimate-tokens.ts";
export {
  type FetchedImages,
  fetchedTextBytes,
  type ImageAddress,
  imageAddresses,
  isImageAddress,
  withFetchedImages,
} from "./fitting/inline-images.ts";
export {
  type AnswerThoughts,
  callsWithoutThoughts,
  thoughtsOfAnswer,
  withThoughtsOfCalls,
} from "./fitting/lost-thoughts.ts";
export { withoutPrefill } from "./fitting/prefill.ts";
export { stoppingAt } from "./fitting/stop-texts.ts";
export { expressNative } from "./express-native.ts";
export { fitSchemas, fitsSchema } from "./schemas/fit-conversation.ts";
export { callingTool, forcedAnswer } from "./tools/forced-answer.ts";
export { fitToolNames, namingTools } from "./tools/fit-tool-names.ts";
export { leaveOutHostedTools, withOwnTools } from "./tools/hosted-tools.ts";
export { restoringTools, substituteTools } from "./tools/substitute-tools.ts";
export { withToolsInEffect } from "./tools/tools-in-effect.ts";
export { joinTurns } from "./join-turns.ts";
export { type Failure, type FailureKind, failureOf, kindOfStatus } from "./failure.ts";
export { type FieldRule, type FieldTable, refused, fieldsFor } from "./fields.ts";
export type {
  AnswerBlock,
  CacheMark,
  Citation,
  FilePart,
  ImagePart,
  Part,
  ReasoningPart,
  RefusalPart,
  Signature,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./parts.ts";
export {
  defined,
  invalid,
  member,
  optional,
  readCount,
  readEach,
  readFlag,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
} from "./read.ts";
export { conversationReader } from "./read-conversation.ts";
export { readTier } from "./service-tier.ts";
export {
  belongsTo,
  hasTaggedSignature,
  isOwnSignature,
  nativeOrigin,
  tagAsBytes,
  tagSignature,
  untagBytes,
  untagSignature,
} from "./signature.ts";
export { checkBase64, sourceOfAnswer, sourceOfUrl, urlOfSource } from "./sources.ts";
export { uniqueCallIds } from "./tools/unique-call-ids.ts";
export type {
  ClientContext,
  DialectTranslation,
  OwnToolContext,
  StreamReader,
  StreamWriter,
  TranslationTarget,
  UpstreamContext,
} from "./translation.ts";
