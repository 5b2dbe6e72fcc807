export { auditOf, expectCleanAudit, oneCredit, oneCreditACall, spentBy, userBooks } from "./books.ts";
export {
  bucketsOf,
  type Charged,
  creditsText,
  expectCharged,
  expectSpent,
  generationOf,
  newClient,
} from "./charged.ts";
export { hasChromium, startChromium } from "./chromium.ts";
export { type Engine, engines, letLeasesLapse, query, queryWeb, storageOn, tablesWith } from "./engines.ts";
export {
  fieldOf,
  fileOf,
  formBodyOf,
  formBoundary,
  type FormPost,
  formType,
  openForm,
  partOf,
  sendForm,
} from "./forms.ts";
export { gatedBody, gatedCosts, type GatedUpstream, startGatedUpstream } from "./gated-upstream.ts";
export {
  cleanEnvironment,
  flatPrice,
  type Gateway,
  type GatewayOptions,
  runCli,
  startGateway,
  startNodes,
  startTwoNodes,
  stopGateways,
} from "./gateway.ts";
export { decoded, faultPrices, type ShownImage } from "./images.ts";
export { codeOf, command, type Created, operatorOf } from "./operator.ts";
export { type PostgresServer, startPostgres } from "./postgres.ts";
export { hasProc, isAlive, processTree, residentMebibytes } from "./processes.ts";
export { root } from "./program.ts";
export { chatModels, eachProvider, simulatedKey, simulatedProviders } from "./providers.ts";
export { findPython } from "./python.ts";
export { openRaw, type RawAnswer, type RawConnection, sendChat, sendRaw } from "./raw.ts";
export { expectNoInside, expectRefusal, type Refusal, requestIdShape } from "./refusal.ts";
export {
  askAgain,
  type Caller,
  type CallOptions,
  chatPath,
  lastReceived,
  post,
  postChat,
  type Rig,
  type RigOptions,
  startRig,
} from "./rig.ts";
export { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
export { sharedGatedGateway, sharedPostgres } from "./set-up.ts";
export { sha256 } from "./sha256.ts";
export { sorted } from "./sorted.ts";
export { newSpoolFolder, type SpoolFolder } from "./spool.ts";
export {
  chunksOf,
  comparable,
  contentOf,
  EventReader,
  eventsOf,
  isUsageChunk,
  type Usage,
  withRoleOnce,
} from "./stream.ts";
export {
  endOf,
  messagesPath,
  responseIn,
  responsesPath,
  type Talker,
  talker,
  type TalkOptions,
  textIn,
  type ReceivedAnswer,
  type ReceivedResponse,
} from "./talker.ts";
export { until } from "./until.ts";
