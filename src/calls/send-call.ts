/** Sends a call's requests upstream, usually one, and returns the outcome. */
import {
  type CallWatchdog,
  type FailedReply,
  readReply,
  type Reply,
  type SendDependencies,
  sendUpstream,
  type UpstreamCall,
  type WholeReply,
} from "../sending/index.ts";
import { EVENT_STREAM, type ExchangeRequest } from "./exchange.ts";
import type { CallPlan } from "./plan-call.ts";
import type { RunningCall } from "./running-call.ts";

/** The outcome of a call; the answer to a single request has not been read yet. Rejects as `sendUpstream` does. */
export function sendCall(deps: SendDependencies, call: RunningCall, plan: CallPlan): Promise<Reply> {
  const requests = plan.exchange.requests(call.parts.work.outputLimit);
  if (requests.length > 1) return sendSeveral(deps, call, plan, requests);
  return sendUpstream(deps, upstreamCall(call, plan, requests[0], call.parts.watchdog));
}

/** Reads the rest of a reply. A short answer has arrived with its head, and needs no promise. */
export function readWhole(
  { send: { idleMsMax } }: SendDependencies,
  call: RunningCall,
  sent: Reply,
  watchdog = call.parts.watchdog,
): WholeReply | FailedReply | Promise<WholeReply | FailedReply> {
  return sent.kind === "stream"
    ? readReply(sent, call.parts.target, { watchdog, idleMsMax, memory: call.parts.memory })
    : sent;
}

function upstreamCall(
  call: RunningCall,
  { exchange, pinnedKeyId }: CallPlan,
  { subpath, body }: ExchangeRequest,
  watchdog: CallWatchdog,
): UpstreamCall {
  const { target, headers, ask } = call.parts;
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
    ask,
    watchdog,
    onSent: (isSent) => call.noteSent(isSent),
  };
}

/**
 * The requests of one call, in parallel: the successful ones form the answer. If all fail, the first failure is
 * returned.
 */
async function sendSeveral(
  deps: SendDependencies,
  call: RunningCall,
  plan: CallPlan,
  requests: readonly ExchangeRequest[],
): Promise<WholeReply | FailedReply> {
  const asked = await Promise.allSettled(requests.map((request) => sendOne(deps, call, plan, request)));
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
  call: RunningCall,
  plan: CallPlan,
  request: ExchangeRequest,
): Promise<WholeReply | FailedReply> {
  const watchdog = call.parts.watchdog.another();
  try {
    return await readWhole(deps, call, await sendUpstream(deps, upstreamCall(call, plan, request, watchdog)), watchdog);
  } finally {
    watchdog.end();
  }
}
