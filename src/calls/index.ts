export { countResponseTokens, countTokens, type CountTokensDependencies } from "./count-tokens.ts";
export type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
export { LargeBodies } from "./large-bodies.ts";
export { CallPipeline, type PipelineDependencies } from "./pipeline.ts";
export type { CallAnswer, IncomingCall } from "./incoming-call.ts";
