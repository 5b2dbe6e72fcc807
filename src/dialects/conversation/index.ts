export type {
  Answer,
  AnswerChoice,
  AnswerEvent,
  BlockEndEvent,
  BlockStartEvent,
  CitationEvent,
  DeltaEvent,
  SignatureEvent,
  StartEvent,
  Stop,
  StopEvent,
  StopReason,
  UsageEvent,
} from "./answer.ts";
export { collectAnswer, eventsOfAnswer } from "./collect-answer.ts";
export { BlockQueue, type QueuedBlock } from "./block-queue.ts";
export { plainCallId, shortCallId } from "./call-ids.ts";
export { checkToolCalls } from "./check-tool-calls.ts";
export type {
  Conversation,
  CustomTool,
  FunctionTool,
  NativeTool,
  OutputFormat,
  ReasoningWish,
  Role,
  Sampling,
  Tool,
  ToolChoice,
  Turn,
} from "./conversation.ts";
export {
  budgetOfEffort,
  budgetTokensMin,
  type Effort,
  effortFor,
  effortOfBudget,
  efforts,
  nearestEffort,
} from "./effort.ts";
export { estimateTokens } from "./estimate-tokens.ts";
export { joinTurns } from "./join-turns.ts";
export { type Failure, type FailureKind, failureOf, kindOfStatus } from "./failure.ts";
export { type Fate, type FieldRule, type FieldTable, refused, type Rest, restFor } from "./fields.ts";
export type {
  AnswerBlock,
  AudioPart,
  CacheMark,
  Citation,
  FilePart,
  ImagePart,
  NativePart,
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
  readFlag,
  readList,
  readNumber,
  readObject,
  readOneOf,
  readText,
  readWord,
} from "./read.ts";
export { belongsTo, carriesSeal, nativeOrigin, seal, type SignatureUse, unseal } from "./signature.ts";
export { checkBase64, sourceOfUrl, urlOfSource } from "./sources.ts";
export type {
  ClientContext,
  DialectTranslation,
  StreamReader,
  StreamWriter,
  TranslationTarget,
  UpstreamContext,
} from "./translation.ts";
