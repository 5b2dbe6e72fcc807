export {
  cleanEnvironment,
  flatPrice,
  type Gateway,
  type GatewayOptions,
  root,
  runCli,
  startGateway,
} from "./gateway.ts";
export { codeOf, command, type Created, operatorOf } from "./operator.ts";
export { chatModels, eachProvider, simulatedKey, simulatedProviders } from "./providers.ts";
export { openRaw, type RawAnswer, type RawConnection, sendRaw } from "./raw.ts";
export { expectNoInside, expectRefusal, type Refusal, requestIdShape } from "./refusal.ts";
export { type Caller, chatPath, type Rig, type RigOptions, startRig } from "./rig.ts";
export { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
export { sorted } from "./sorted.ts";
export { type Chunk, chunksOf, contentOf, EventReader, eventsOf, isUsageChunk, type Usage } from "./stream.ts";
export { until } from "./until.ts";
