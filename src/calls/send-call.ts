/** Sends a call's requests upstream, usually one, and returns the outcome. */
import type { CallWatchdog, RunningWork } from "../charges/index.ts";
import {
  type FailedReply,
  readReply,
  type Reply,
  repeatRuleOf,
  type SendDependencies,
  sendUpstream,
  type UpstreamCall,
  type WholeReply,
} from "../sending/index.ts";
import { EVENT_STREAM, type ExchangeRequest } from "./exchange.ts";
import type { CallPlan } from "./plan-call.ts";

/** The outcome of a call; the answer to a single request has not been read yet. Rejects as `sendUpstream` does. */
export function sendCall(deps: SendDependencies, call: RunningWork, plan: CallPlan): Promise<Reply> {
  const requests = plan.exchange.requests(call.work.outputLimit);
  if (requests.length > 1) return sendSeveral(deps, call, plan, requests);
  return sendUpstream(deps, upstreamCall(call, plan, requests[0], call.watchdog));
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

function upstreamCall(
  call: RunningWork,
  { exchange, order, pinnedKeyId, target, incoming: { headers, ask } }: CallPlan,
  { subpath, body }: ExchangeRequest,
  watchdog: CallWatchdog,
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
    ask,
    watchdog,
    repeats: repeatRuleOf(order.operation),
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
  call: RunningWork,
  plan: CallPlan,
  request: ExchangeRequest,
): Promise<WholeReply | FailedReply> {
  const watchdog = call.watchdog.another();
  try {
    const sent = await sendUpstream(deps, upstreamCall(call, plan, request, watchdog));
    return await readWhole(deps, plan, sent, { memory: call.memory, watchdog });
  } finally {
    watchdog.end();
  }
}
