export { Charge, type ChargeDependencies } from "./charge.ts";
export type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
export { CallPipeline, type IncomingCall, type PipelineDependencies } from "./pipeline.ts";
