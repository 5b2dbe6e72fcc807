/** From a call whose money is set aside to the answer: it is sent upstream, and what comes back is relayed and observed. */
import {
  GatewayError,
  type JsonObject,
  type ObservedUsage,
  parseObject,
  type ReplyHeaders,
  type UpstreamReply,
} from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { ResponseCatcher } from "./catch-response.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { sumOf, usedBy } from "./estimate.ts";
import { EVENT_STREAM, type Exchange, type ObservedStream, type ExchangeRequest } from "./exchange.ts";
import { relayedHeaders } from "./headers.ts";
import { Patience } from "./patience.ts";
import type { CallPlan } from "./plan-call.ts";
import { relayStream } from "./relay-stream.ts";
import { readWholeAnswer, type WholeAnswer } from "./relay-whole.ts";
import { KeptBody } from "./retry-key.ts";
import type { CallResult, RunningCall } from "./running-call.ts";
import { StreamUsage } from "./stream-usage.ts";
import { type SendEnvironment, type SendOptions, sendUpstream, type UpstreamAnswer } from "./send.ts";

export interface AnswerDependencies {
  environment: SendEnvironment;
  send: SendOptions;
  logger: Logger;
}

type Failure = Extract<UpstreamAnswer, { ok: false }>;

type WholeAnswers = readonly [WholeAnswer, ...WholeAnswer[]];

/** Throws where there is no answer; then the call has not ended yet. */
export async function answerCall<Body extends ChargeableBody>(
  deps: AnswerDependencies,
  call: RunningCall<Body>,
  plan: CallPlan,
): Promise<Response> {
  const { exchange, keep } = plan;
  const { requests } = exchange;
  let reply: UpstreamReply;
  let answers: WholeAnswers;
  if (requests.length > 1) {
    const asked = await askSeveral(deps, call, exchange);
    if ("failure" in asked) return relayFailure(call, exchange, asked.failure);
    ({ reply, answers } = asked);
  } else {
    const answer = await send(deps, call, exchange, requests[0], call.parts.patience);
    if (!answer.ok) return relayFailure(call, exchange, answer);
    ({ reply } = answer);
    const stream = streamOf(plan, reply);
    if (stream !== undefined) return relay(deps, call, plan, reply, stream);
    const reading = readWholeAnswer(reply, call.parts.target.operation, call.parts.patience, deps.send.idleMsMax);
    const whole = reading instanceof Promise ? await reading : reading;
    if (whole.failed) return relayFailure(call, exchange, failureWithin(whole, reply));
    answers = [whole];
  }
  const shown = showWhole(call, exchange, reply, answers);
  if (keep !== undefined) await keepResponse(deps, call, keep, parseObject(shown.whole));
  await call.end(endOfWhole(call, shown));
  return new Response(shown.body, shown);
}

/** What observes the reply, where it is passed on while it comes. */
function streamOf({ exchange, streamed }: CallPlan, { headers, body }: UpstreamReply): ObservedStream | undefined {
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith(EVENT_STREAM)) {
    return exchange.observeBytes === undefined || /\bjson\b/.test(type) ? undefined : exchange.observeBytes();
  }
  if (exchange.observe !== undefined && (streamed || exchange.passesThrough)) return exchange.observe();
  body.cancel();
  throw new GatewayError("upstream_invalid_answer", "The upstream answered with a stream that nobody asked for.");
}

function send<Body extends ChargeableBody>(
  { environment, send: options }: AnswerDependencies,
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
 * The requests of one call, side by side: what succeeds is the answer, under the first one's reply. Where nothing does, the
 * first one's failure is told.
 */
async function askSeveral<Body extends ChargeableBody>(
  deps: AnswerDependencies,
  call: RunningCall<Body>,
  exchange: Exchange,
): Promise<{ reply: UpstreamReply; answers: WholeAnswers } | { failure: Failure }> {
  const asked = await Promise.allSettled(exchange.requests.map((request) => askOne(deps, call, exchange, request)));
  const [first, ...rest] = asked.flatMap((each) =>
    each.status === "fulfilled" && "whole" in each.value ? [each.value] : [],
  );
  if (first !== undefined) return { reply: first.reply, answers: [first.whole, ...rest.map((each) => each.whole)] };
  for (const each of asked) {
    if (each.status === "rejected") throw each.reason;
    if ("failure" in each.value) return each.value;
  }
  throw new Error("a call without a request");
}

async function askOne<Body extends ChargeableBody>(
  deps: AnswerDependencies,
  call: RunningCall<Body>,
  exchange: Exchange,
  request: ExchangeRequest,
): Promise<{ reply: UpstreamReply; whole: WholeAnswer } | { failure: Failure }> {
  const patience = call.parts.patience.another();
  try {
    const answer = await send(deps, call, exchange, request, patience);
    if (!answer.ok) return { failure: answer };
    const { reply } = answer;
    const whole = await readWholeAnswer(reply, call.parts.target.operation, patience, deps.send.idleMsMax);
    return whole.failed ? { failure: failureWithin(whole, reply) } : { reply, whole };
  } finally {
    patience.end();
  }
}

/** A whole answer as its client gets it: a response's own parts, and what was used for it. */
interface ShownWhole {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string;
  /** As one object in the client's dialect, JSON text. */
  whole: string;
  observed: ObservedUsage;
}

function showWhole<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  { status, headers: replied }: UpstreamReply,
  answers: WholeAnswers,
): ShownWhole {
  const { target, route, bound } = call.parts;
  const headers = headersFor(call, replied);
  if (exchange.headers !== undefined) Object.assign(headers, exchange.headers);
  const { body, contentType, whole, counted } = exchange.answer(answers);
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (contentType === EVENT_STREAM) Object.assign(headers, EVENT_HEADERS);
  const { text, usage } = answers[0];
  const upstream = answers.length === 1 ? usage : sumOf(answers.map((each) => each.usage));
  const observed = usedBy(target.price, bound, upstream, () => route.codec.outputBytes(text), counted);
  headers["x-tollgate-credits"] = call.creditsOf(observed);
  return { status, headers, body, whole, observed };
}

function endOfWhole<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  { status, headers, body, observed }: ShownWhole,
): CallResult {
  const kept = call.parts.retry && { headers, body: new KeptBody().add(Buffer.from(body)) };
  return { status, outcome: "complete", observed, answer: kept };
}

/** An answer that can't be kept is given all the same: it has been made, and is paid for. */
async function keepResponse<Body extends ChargeableBody>(
  { logger }: AnswerDependencies,
  call: RunningCall<Body>,
  keep: (response: JsonObject) => Promise<void>,
  response: JsonObject | undefined,
): Promise<void> {
  try {
    if (response !== undefined) await keep(response);
  } catch (reason) {
    logger.error({ request_id: call.parts.incoming.requestId, reason: String(reason) }, "response not kept");
  }
}

/** A stream: of events, or of bytes. */
function relay<Body extends ChargeableBody>(
  deps: AnswerDependencies,
  call: RunningCall<Body>,
  { keep }: CallPlan,
  { status, headers: replied, body }: UpstreamReply,
  { observer: own, events }: ObservedStream,
): Response {
  const { bound, target, charge, patience, retry, incoming } = call.parts;
  const catcher = keep === undefined ? undefined : new ResponseCatcher(own);
  const observer = catcher ?? own;
  const usage = new StreamUsage({
    observer,
    read() {
      const used = usedBy(target.price, bound, observer.usage, () => observer.outputBytes);
      // What has no price can't be charged either.
      charge.costOf(used);
      return used;
    },
    // Its name alone: the text could repeat what was said.
    onFailure: (reason) =>
      deps.logger.error({ request_id: incoming.requestId, cause: nameOf(reason) }, "usage unknown"),
  });
  charge.observeWith(
    () => usage.soFar(),
    (error) => patience.abort.abort(error),
  );
  const headers = { ...headersFor(call, replied), ...(events === undefined ? {} : EVENT_HEADERS) };
  const kept = retry === undefined ? undefined : new KeptBody();
  const stream = relayStream(body, {
    observer,
    events,
    abort: patience.abort,
    ticker: patience.ticker,
    idleMsMax: deps.send.idleMsMax,
    client: incoming.request,
    kept,
    scrub: (text) => target.route.keys.scrub(text),
    onFirstByte: () => call.firstByte(),
    onEnd: async (outcome, error) => {
      if (keep !== undefined) await keepResponse(deps, call, keep, catcher?.response);
      const used = usage.soFar();
      const isCharged = usage.cameOut || outcome === "complete" || outcome === "abandoned";
      if (used === undefined || !isCharged) return call.end({ status, outcome, error });
      return call.end({ status, outcome, observed: used, error, answer: kept && { headers, body: kept } });
    },
  });
  return new Response(stream, { status, headers });
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

const EVENT_HEADERS = { "cache-control": "no-cache", "x-accel-buffering": "no" };

/** A failure under a status that says success. */
function failureWithin({ text }: WholeAnswer, { status, headers }: UpstreamReply): Failure {
  return { ok: false, status, headers, body: text };
}

/** An upstream's own error: relayed, and free. */
async function relayFailure<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  { status, headers, body }: Failure,
): Promise<Response> {
  // A redirection is not followed, since the key must not go along, and means nothing to the client.
  if (status >= 300 && status < 400) {
    throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${status}.`);
  }
  // A status that says success is left to a client of the upstream's own dialect, who knows what to make of it.
  const told = status < 400 && !exchange.passesThrough ? 502 : status;
  const shown = exchange.failure(told, call.parts.target.route.keys.scrub(body));
  await call.end({ status: told, outcome: "failed" });
  const all = { ...headersFor(call, headers), ...exchange.headers, "x-tollgate-credits": "0" };
  return new Response(shown, { status: told, headers: all });
}

/** The headers of an answer, but for what it cost. */
function headersFor<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  upstream: ReplyHeaders,
): Record<string, string> {
  const { target, charge } = call.parts;
  const headers = relayedHeaders(upstream, target.route.sandbox);
  return charge.rateHeaders === undefined ? headers : Object.assign(headers, charge.rateHeaders);
}
