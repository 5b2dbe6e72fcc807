export {
  type AbortListener,
  abortSignalOf,
  type CallAbort,
  CallAborter,
  type CallSignal,
  untilAborted,
} from "./call-abort.ts";
export type { Dialect, ModelOperation, Operation, RequestFeature, VideoOperation, WebOperation } from "./operations.ts";
export { Calendar, dayName, isTimezone } from "./calendar/calendar.ts";
export {
  type Clock,
  type Environment,
  type Every,
  everyUnref,
  type Fetch,
  type RandomBytes,
  type RandomFraction,
} from "./environment.ts";
export {
  type ErrorCode,
  errorCodeIn,
  GatewayError,
  isKnownGatewayFault,
  isOutsideFault,
  shuttingDown,
  toGatewayError,
} from "./errors.ts";
export { isLoopbackName } from "./sockets/loopback.ts";
export { type FailureName, failureTraits } from "./failures/failure-classes.ts";
export type { CallFile } from "./files.ts";
export { allows, globsMeet, matchesGlob } from "./globs.ts";
export {
  firstRequestIdAt,
  isRequestId,
  isStorableId,
  isBatchId,
  isTimedUuid,
  prefixOf,
  randomId,
  requestId,
  timedUuid,
  timeOfSeries,
  withoutPrefix,
} from "./ids.ts";
export { type JsonObject, keysOf, listOf, objectOf, objectsOf, parseObject, stringOf } from "./json.ts";
export { includesRole, type Role, roleOfToken, roles } from "./roles.ts";
export * as limits from "./limits.ts";
export {
  type Effort,
  efforts,
  type FactName,
  factNames,
  type ModelFacts,
  isAbove,
  nearestEffort,
  type ThoughtOptions,
} from "./models/model-facts.ts";
export {
  applyMarkup,
  costOf,
  creditsNumber,
  type Femto,
  formatCredits,
  type Nano,
  NANO_PER_CREDIT,
  NO_MARKUP,
  parseCredits,
  parseMarkup,
  parseRate,
  roundMarkedUp,
  roundUpToNano,
  toNanoWithMarkup,
} from "./money.ts";
export {
  type ByPriceKey,
  byPricedBucket,
  byPriceKey,
  describePrice,
  keyOfBucket,
  type PriceKey,
  priceKeys,
  priceUnits,
  type VariantPriceKey,
} from "./price-units.ts";
export {
  type CreatedObjects,
  isStoredUrl,
  objectKinds,
  type ObjectReader,
  type ObjectReference,
  ReferenceList,
  type StoredObject,
} from "./stored-objects.ts";
export { becomeUser } from "./processes/drop-privileges.ts";
export { adoptOrphans, endWithParent, gainNoRights, hideFromOthers } from "./processes/process-controls.ts";
export { openLibc } from "./processes/libc.ts";
export { type ProcessStat, processStat } from "./processes/process-stat.ts";
export { unprivilegedUser } from "./processes/unprivileged-user.ts";
export { FairQueue } from "./queues/fair-queue.ts";
export { inParts } from "./queues/in-parts.ts";
export { Places, type QueuedTask, type QueueLoad, tooManyWaiting } from "./queues/places.ts";
export type { RateLimits } from "./rate-limits.ts";
export type { AcceptedSocket, MessageBounds, Sending, Socket, SocketHandler } from "./sockets/client-socket.ts";
export {
  errorBody,
  errorStatus,
  firecrawlV1Names,
  firecrawlCode,
  idHeaders,
  listingSurface,
  namesVersion,
  sharedSurface,
  statusOn,
  type Surface,
} from "./surfaces.ts";
export { Thread } from "./threads/thread.ts";
export { lowerThreadPriority } from "./threads/thread-priority.ts";
export {
  addUsage,
  appliedTerms,
  bucketNames,
  inAudioSteps,
  type MediaVariant,
  type ModelUsage,
  inputBuckets,
  inputTokens,
  type ObservedUsage,
  outputBuckets,
  outputTokens,
  type PriceTerms,
  type Usage,
  type UsageBucket,
  usageBuckets,
  type UsageSide,
  withoutPart,
} from "./usage.ts";
export { asksForCompaction } from "./operations.ts";
export {
  clientRequestIdOf,
  endUserOf,
  loggableId,
  namesTags,
  namingHeaders,
  sessionHeaders,
  sessionOf,
} from "./headers/naming-headers.ts";
export { textOfHeader } from "./headers/header-text.ts";
export { builtInTags, isTagValue, TAG_KEY, tagsInHeaders } from "./headers/tag-headers.ts";
export { type TraceContext, traceContextOf, traceHeaders } from "./headers/trace-context.ts";
export type { AskUpstream, BodySink, ReplyBody, ReplyHeaders, UpstreamReply, UpstreamRequest } from "./upstream.ts";
export {
  HandshakeRefused,
  type OpenUpstreamSocket,
  type SocketSink,
  type UpstreamSocket,
  type UpstreamSocketRequest,
} from "./sockets/upstream-socket.ts";
export { type AlternativeModels, type HelperModel, withBroughtIn, withToolRuns, type WorkBound } from "./work-bound.ts";
export {
  generatedImageTokens,
  pixelsOf,
  bytesOfTokens,
  fewestTokensOf,
  mostBytesOf,
  tokensOfAudio,
  tokensOfBytes,
  IMAGE_TOKENS_MAX,
  MESSAGE_TOKENS_MAX,
  UNKNOWN_PART_TOKENS,
} from "./models/tokens.ts";
export { fitsToolName } from "./models/tool-names.ts";
export { budgetOfEffort, budgetTokensMin, effortOfBudget } from "./models/effort-budgets.ts";
export { version } from "./version.ts";
export { Slices } from "./queues/slices.ts";
