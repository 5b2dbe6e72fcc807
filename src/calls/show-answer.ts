/** A whole answer, or a failure, as its client gets it. */
import { GatewayError, type JsonObject, type ReplyHeaders } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { sumOf, usedBy } from "./estimate.ts";
import { EVENT_STREAM, type Exchange } from "./exchange.ts";
import { relayedHeaders } from "./headers.ts";
import { KeptBody } from "./retry-key.ts";
import type { CallResult, RunningCall } from "./running-call.ts";
import type { Failure, WholeReply } from "./send-call.ts";

/** A response's own parts, and how its call ends. */
export interface AnswerToGive {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string;
  end: CallResult;
  /** The answer as one object in the client's dialect, JSON text; undefined for a failure. */
  whole: string | undefined;
}

/** Throws where there is nothing to give. */
export function showAnswer<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  answer: WholeReply | Failure,
): AnswerToGive {
  return answer.ok ? showWhole(call, exchange, answer) : showFailure(call, exchange, answer);
}

function showWhole<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  { reply, answers }: WholeReply,
): AnswerToGive {
  const { target, route, bound, retry } = call.parts;
  const { status } = reply;
  const headers = headersFor(call, reply.headers);
  if (exchange.headers !== undefined) Object.assign(headers, exchange.headers);
  const { body, contentType, whole, counted } = exchange.answer(answers);
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (contentType === EVENT_STREAM) Object.assign(headers, EVENT_HEADERS);
  const { text, usage } = answers[0];
  const upstream = answers.length === 1 ? usage : sumOf(answers.map((each) => each.usage));
  const observed = usedBy(target.price, bound, upstream, () => route.codec.outputBytes(text), counted);
  headers["x-tollgate-credits"] = call.creditsOf(observed);
  const kept = retry && { headers, body: new KeptBody().add(Buffer.from(body)) };
  return { status, headers, body, whole, end: { status, outcome: "complete", observed, answer: kept } };
}

/** An upstream's own error: relayed, and free. */
function showFailure<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  { status: replied, headers: own, body: text }: Failure,
): AnswerToGive {
  // A redirection is not followed, since the key must not go along, and means nothing to the client.
  if (replied >= 300 && replied < 400) {
    throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${replied}.`);
  }
  // A status that says success is left to a client of the upstream's own dialect, who knows what to make of it.
  const status = replied < 400 && !exchange.passesThrough ? 502 : replied;
  const body = exchange.failure(status, call.parts.target.route.keys.scrub(text));
  const headers = { ...headersFor(call, own), ...exchange.headers, "x-tollgate-credits": "0" };
  return { status, headers, body, whole: undefined, end: { status, outcome: "failed" } };
}

/** An answer that can't be kept is given all the same: it has been made, and is paid for. */
export async function keepResponse<Body extends ChargeableBody>(
  logger: Logger,
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

export const EVENT_HEADERS = { "cache-control": "no-cache", "x-accel-buffering": "no" };

/** The headers of an answer, but for what it cost. */
export function headersFor<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  upstream: ReplyHeaders,
): Record<string, string> {
  const { target, charge } = call.parts;
  const headers = relayedHeaders(upstream, target.route.sandbox);
  return charge.rateHeaders === undefined ? headers : Object.assign(headers, charge.rateHeaders);
}
