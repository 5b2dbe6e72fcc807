export { countGeminiTokens, countResponseTokens, countTokens, type CountTokensDependencies } from "./count-tokens.ts";
export type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
export { HeldBody } from "./routed/held-body.ts";
export { ImageFetcher } from "./preparation/fetch-images.ts";
export { isLarge, LargeBodies } from "./large-bodies.ts";
export { CallPipeline, type PipelineDependencies } from "./pipeline.ts";
export { relayStream, type StreamEnd } from "./relay/relay-stream.ts";
export { StreamUsage } from "./relay/stream-usage.ts";
export type { IncomingCall } from "./incoming-call.ts";
