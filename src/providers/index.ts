export type { BatchApi, BatchApiRequest, BatchApiResult, UpstreamBatch } from "./batch-api.ts";
export type {
  CallInput,
  FailureRules,
  ListedModel,
  OutputLimit,
  Provider,
  BinaryAnswer,
  RequestedExtras,
  RunLimit,
  ToolPurchase,
  UpstreamRequestBody,
  UpstreamRequests,
  UpstreamFiles,
  UpstreamOperation,
} from "./provider.ts";
export type { RealtimeApi, SessionType } from "./realtime-api.ts";
export type { VideoApi, VideoInput, VideoSource, VideoState } from "./video-api.ts";
export { createProvider, type ProviderChoice, upstreamName } from "./registry.ts";
export { type FactRow, factRows, isAbout } from "./facts/index.ts";
export { imageTypeOf } from "./shared/images/image-sources.ts";
export { matchesPattern, readFault } from "./shared/failures.ts";
export { rateRoomOf } from "./rate-room.ts";
export { usageReaders } from "./dialect-usage.ts";
