export { answerWith, type AskDependencies, askForReply, askUpstream, type FreeRequest } from "./ask-upstream.ts";
export { type AnyFailure, circuitOutcomeOf, classifyAnswer, classifyFailure } from "./classify-failure.ts";
export { connectUpstream } from "./connect-upstream.ts";
export { downloadUpstream } from "./download.ts";
export { keptFromClient } from "./kept-from-client.ts";
export { relayedErrorHeaders, relayedHeaders, setTarget, withFailures } from "./headers.ts";
export type { FailedReply, Reply, StreamReply, WholeAnswer, WholeReply } from "./reply.ts";
export { type FailedAttempt, repeatRules } from "./repeat-rule.ts";
export {
  answered,
  reportAttempt,
  type SendDependencies,
  type SendOptions,
  sendUpstream,
  type UpstreamBody,
  type UpstreamCall,
} from "./send.ts";
export { readReply, replyOfText } from "./whole-answer.ts";
export { decidingClass, ProviderErrors } from "./targets/failures.ts";
export { moveOn, planFirst, planNext } from "./targets/plan-targets.ts";
