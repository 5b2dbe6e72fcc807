/** A call's requests sent upstream, mostly one, and what has come of them. */
import type { UpstreamReply } from "../core/index.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { EVENT_STREAM, type Exchange, type ExchangeRequest } from "./exchange.ts";
import type { Patience } from "./patience.ts";
import { readWholeAnswer, type WholeAnswer } from "./relay-whole.ts";
import type { RunningCall } from "./running-call.ts";
import { type SendEnvironment, type SendOptions, sendUpstream, type UpstreamAnswer } from "./send.ts";

export interface SendDependencies {
  environment: SendEnvironment;
  send: SendOptions;
}

/** An upstream's own error, or a failure under a status that says success. */
export type Failure = Extract<UpstreamAnswer, { ok: false }>;

/** Answers that have come whole, with the first one's reply. */
export interface WholeReply {
  ok: true;
  reply: UpstreamReply;
  answers: readonly [WholeAnswer, ...WholeAnswer[]];
}

/** What has come of a call; the answer to a single request is still to be read. Rejects as `sendUpstream` does. */
export function sendCall<Body extends ChargeableBody>(
  deps: SendDependencies,
  call: RunningCall<Body>,
  exchange: Exchange,
): Promise<UpstreamAnswer | WholeReply> {
  const { requests } = exchange;
  if (requests.length > 1) return sendSeveral(deps, call, exchange);
  return send(deps, call, exchange, requests[0], call.parts.patience);
}

/** Reads what is still to be read. A short answer has come with its head, and needs no promise. */
export function readAnswer<Body extends ChargeableBody>(
  { send: { idleMsMax } }: SendDependencies,
  call: RunningCall<Body>,
  sent: UpstreamAnswer | WholeReply,
  patience = call.parts.patience,
): WholeReply | Failure | Promise<WholeReply | Failure> {
  if (!sent.ok || "answers" in sent) return sent;
  const { reply } = sent;
  const whole = readWholeAnswer(reply, call.parts.target.operation, patience, idleMsMax);
  return whole instanceof Promise ? whole.then((late) => replyOf(reply, late)) : replyOf(reply, whole);
}

function replyOf(reply: UpstreamReply, whole: WholeAnswer): WholeReply | Failure {
  if (!whole.failed) return { ok: true, reply, answers: [whole] };
  return { ok: false, status: reply.status, headers: reply.headers, body: whole.text };
}

function send<Body extends ChargeableBody>(
  { environment, send: options }: SendDependencies,
  call: RunningCall<Body>,
  { passesThrough, streamed, observeBytes }: Exchange,
  { below, body }: ExchangeRequest,
  patience: Patience,
): Promise<UpstreamAnswer> {
  const { target, incoming } = call.parts;
  const whole = observeBytes === undefined ? "application/json" : "*/*";
  return sendUpstream(environment, options, {
    target,
    below,
    body,
    accept: streamed ? EVENT_STREAM : whole,
    clientHeaders: incoming.request.headers,
    passesThrough,
    patience,
  });
}

/**
 * The requests of one call, side by side: what succeeds is the answer. Where nothing does, the first one's failure is
 * told.
 */
async function sendSeveral<Body extends ChargeableBody>(
  deps: SendDependencies,
  call: RunningCall<Body>,
  exchange: Exchange,
): Promise<WholeReply | Failure> {
  const asked = await Promise.allSettled(exchange.requests.map((request) => sendOne(deps, call, exchange, request)));
  const [first, ...rest] = asked.flatMap((each) => (each.status === "fulfilled" && each.value.ok ? [each.value] : []));
  if (first !== undefined) return { ...first, answers: [first.answers[0], ...rest.map((each) => each.answers[0])] };
  for (const each of asked) {
    if (each.status === "rejected") throw each.reason;
    if (!each.value.ok) return each.value;
  }
  throw new Error("a call without a request");
}

async function sendOne<Body extends ChargeableBody>(
  deps: SendDependencies,
  call: RunningCall<Body>,
  exchange: Exchange,
  request: ExchangeRequest,
): Promise<WholeReply | Failure> {
  const patience = call.parts.patience.another();
  try {
    return await readAnswer(deps, call, await send(deps, call, exchange, request, patience), patience);
  } finally {
    patience.end();
  }
}
