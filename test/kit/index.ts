export { expectCleanAudit, oneCredit, oneCreditACall, userBooks } from "./books.ts";
export { type Buyer, type Charged, creditsText, expectCharged, newBuyer } from "./charged.ts";
export { type Engine, engines, letLeasesLapse, query, storageOn, tablesWith } from "./engines.ts";
export {
  fieldOf,
  fileOf,
  formBodyOf,
  formBoundary,
  type FormPost,
  formType,
  newSpoolFolder,
  openForm,
  partOf,
  sendForm,
  type SpoolFolder,
} from "./forms.ts";
export { type GatedUpstream, startGatedUpstream } from "./gated-upstream.ts";
export {
  cleanEnvironment,
  flatPrice,
  type Gateway,
  type GatewayOptions,
  root,
  runCli,
  startGateway,
  startNodes,
  stopGateways,
} from "./gateway.ts";
export { decoded, faultPrices, type ShownImage } from "./images.ts";
export { codeOf, command, type Created, operatorOf } from "./operator.ts";
export { type PostgresServer, startPostgres } from "./postgres.ts";
export { chatModels, eachProvider, simulatedKey, simulatedProviders } from "./providers.ts";
export { openRaw, type RawAnswer, type RawConnection, sendChat, sendRaw } from "./raw.ts";
export { expectNoInside, expectRefusal, type Refusal, requestIdShape } from "./refusal.ts";
export { type Caller, type CallOptions, chatPath, postChat, type Rig, type RigOptions, startRig } from "./rig.ts";
export { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
export { sorted } from "./sorted.ts";
export { type Chunk, chunksOf, contentOf, EventReader, eventsOf, isUsageChunk, type Usage } from "./stream.ts";
export {
  endOf,
  messagesPath,
  responseIn,
  responsesPath,
  type Talker,
  talker,
  type TalkOptions,
  textIn,
  type Told,
  type ToldResponse,
} from "./talker.ts";
export { until } from "./until.ts";
