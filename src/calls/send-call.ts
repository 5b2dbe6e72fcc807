/** Sends a call's requests upstream, usually one, and returns the outcome. */
import type { CallWatchdog, RunningWork } from "../charges/index.ts";
import { type ErrorCode, type FailureName, GatewayError } from "../core/index.ts";
import { readFailedAnswer } from "../dialects/index.ts";
import {
  answered,
  type AnyFailure,
  classifyAnswer,
  type FailedAttempt,
  type FailedReply,
  readReply,
  type Reply,
  repeatRules,
  reportAttempt,
  type SendDependencies,
  sendUpstream,
  type StreamReply,
  type UpstreamCall,
  type WholeReply,
} from "../sending/index.ts";
import { EVENT_STREAM } from "../streaming/index.ts";
import type { ExchangeRequest } from "./exchange.ts";
import type { CallPlan } from "./plan-call.ts";

/** One target's turn in a call that may have others. */
export interface RequestAttempt {
  /** Its time-outs end this turn alone. */
  watchdog: CallWatchdog;
  /** Whether another target is left. */
  hasNext: boolean;
  /** Called when a request has failed and is not repeated. */
  onFailure: (failed: FailedAttempt) => void;
}

/** The outcome of a call; the answer to a single request has not been read yet. Rejects as `sendUpstream` does. */
export function sendCall(
  deps: SendDependencies,
  call: RunningWork,
  plan: CallPlan,
  attempt?: RequestAttempt,
): Promise<Reply> {
  const { outputTokens, toolRuns } = call.work.limits;
  const requests = plan.exchange.requests(outputTokens, toolRuns);
  if (requests.length > 1) return sendSeveral(deps, call, plan, { requests, attempt });
  return sendUpstream(deps, upstreamCall(call, plan, requests[0], { watchdog: call.watchdog, ...attempt }));
}

/** Reads the rest of a reply. A short answer has arrived with its head, and needs no promise. */
export function readWhole(
  { send: { idleMsMax } }: SendDependencies,
  { target }: CallPlan,
  sent: Reply,
  { memory, watchdog }: Pick<RunningWork, "memory" | "watchdog">,
): WholeReply | FailedReply | Promise<WholeReply | FailedReply> {
  return sent.kind === "stream" ? readReply(sent, target, { watchdog, idleMsMax, memory }) : sent;
}

/** Reads the rest of a reply whose failure may be followed by another target. */
export async function readAttempt(
  deps: SendDependencies,
  call: RunningWork,
  plan: CallPlan,
  { sent, attempt }: { sent: Reply; attempt: RequestAttempt },
): Promise<WholeReply | FailedReply> {
  const { memory } = call;
  try {
    const reply = await readWhole(deps, plan, sent, { memory, watchdog: attempt.watchdog });
    // An error with a status of success; any other one has been reported already.
    if (reply.kind === "failed" && sent.kind === "stream") {
      const { operation, route } = plan.target;
      const failure = classifyAnswer(route.provider.failures, readFailedAnswer(operation.dialect, reply.body));
      loseAnswer(deps, call, plan, { sent, attempt, failure });
    }
    return reply;
  } catch (thrown) {
    const name = thrown instanceof GatewayError ? failuresOfAnswers[thrown.code] : undefined;
    if (sent.kind === "stream")
      loseAnswer(deps, call, plan, { sent, attempt, failure: lostAnswer(name), isLost: true });
    throw thrown;
  }
}

const failuresOfAnswers: Partial<Record<ErrorCode, FailureName>> = {
  upstream_interrupted: "no_content",
  upstream_timeout: "no_content",
  upstream_invalid_answer: "broken",
};

/** The failure of an answer that began and is of no use; without a class it is the gateway's own fault. */
export function lostAnswer(name: FailureName | undefined): AnyFailure {
  return name === undefined ? "abandoned" : { name, retryable: false, needsRetryAfter: false, retryAfterMs: undefined };
}

interface LostAnswer {
  sent: StreamReply;
  attempt: RequestAttempt;
  failure: AnyFailure;
  /** Whether the upstream may bill it. */
  isLost?: boolean;
}

/** Reports an answer that stays: no other target follows. */
export function confirmAnswer(
  deps: SendDependencies,
  call: RunningWork,
  { target }: CallPlan,
  sent: StreamReply,
): void {
  const { keyId, attempt: number } = sent;
  reportAttempt(deps, { workId: call.id, target, work: call }, { key: { id: keyId }, number }, answered(sent));
}

/** Reports the failure of an answer that had begun: to the keys, to the observers of attempts, and to `onFailure`. */
export function loseAnswer(
  deps: SendDependencies,
  call: RunningWork,
  { target }: Pick<CallPlan, "target">,
  { sent, attempt: { onFailure }, failure, isLost = false }: LostAnswer,
): void {
  const { keyId, status, headers, attempt: number, begunAt } = sent;
  const { keys } = target.route;
  const key = keys.find(keyId);
  if (key !== undefined && failure !== "abandoned") keys.note(key, failure, target.operation.path);
  const unbilled = isLost && failure !== "abandoned" ? call.lostCredits() : undefined;
  const result = { begunAt, status, headers, failure, unbilled };
  reportAttempt(deps, { workId: call.id, target, work: call }, { key: { id: keyId }, number }, result);
  onFailure({ failure, status: undefined, isSent: true });
}

function upstreamCall(
  call: RunningWork,
  { exchange, order, pinnedKeyId, preferredKeyId, session, target, incoming: { headers, ask } }: CallPlan,
  { subpath, body }: ExchangeRequest,
  { watchdog, hasNext, onFailure }: Pick<RequestAttempt, "watchdog"> & Partial<RequestAttempt>,
): UpstreamCall {
  const { passesThrough, streamed, observeBytes } = exchange;
  const whole = observeBytes === undefined ? "application/json" : "*/*";
  return {
    workId: call.id,
    target,
    subpath,
    body,
    accept: streamed ? EVENT_STREAM : whole,
    clientHeaders: headers,
    passesThrough,
    pinnedKeyId,
    session,
    preferredKeyId,
    ask: target.operation.hasSocket === true ? ask : undefined,
    watchdog,
    hasNext,
    isHeld: onFailure !== undefined,
    onFailure,
    repeats: repeatRules[order.operation],
    work: call,
  };
}

/**
 * The requests of one call, in parallel: the successful ones form the answer. If all fail, the first failure is
 * returned.
 */
async function sendSeveral(
  deps: SendDependencies,
  call: RunningWork,
  plan: CallPlan,
  { requests, attempt }: { requests: readonly ExchangeRequest[]; attempt: RequestAttempt | undefined },
): Promise<WholeReply | FailedReply> {
  const asked = await Promise.allSettled(requests.map((request) => sendOne(deps, call, plan, { request, attempt })));
  const [first, ...rest] = asked.flatMap((each) =>
    each.status === "fulfilled" && each.value.kind === "whole" ? [each.value] : [],
  );
  if (first !== undefined) return { ...first, answers: [first.answers[0], ...rest.map((each) => each.answers[0])] };
  for (const each of asked) {
    if (each.status === "rejected") throw each.reason;
    if (each.value.kind === "failed") return each.value;
  }
  throw new Error("a call without a request");
}

async function sendOne(
  deps: SendDependencies,
  call: RunningWork,
  plan: CallPlan,
  { request, attempt }: { request: ExchangeRequest; attempt: RequestAttempt | undefined },
): Promise<WholeReply | FailedReply> {
  const watchdog = (attempt?.watchdog ?? call.watchdog).another();
  const { memory } = call;
  try {
    const sent = await sendUpstream(deps, upstreamCall(call, plan, request, { ...attempt, watchdog }));
    if (attempt === undefined) return await readWhole(deps, plan, sent, { memory, watchdog });
    const reply = await readAttempt(deps, call, plan, { sent, attempt: { ...attempt, watchdog } });
    if (reply.kind === "whole" && sent.kind === "stream") confirmAnswer(deps, call, plan, sent);
    return reply;
  } finally {
    watchdog.end();
  }
}
