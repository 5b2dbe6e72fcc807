export { Charge, type ChargeDependencies } from "./charge.ts";
export { openCharge } from "./open-charge.ts";
export { countTokens, type CountTokensDependencies } from "./count-tokens.ts";
export type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
export { CallPipeline, type PipelineDependencies } from "./pipeline.ts";
export {
  deleteResponse,
  getResponse,
  listInputItems,
  type StoredResponseCall,
  type StoredResponseDependencies,
} from "./stored-response.ts";
export { type KeeperDependencies, ResponseKeeper } from "./response-keeper.ts";
export type { IncomingCall } from "./running-call.ts";
